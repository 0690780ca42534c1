/**
 * Likes a post and counts the like, in one transaction; a repeated like counts once, and a repeated command (one with
 * a commandId that was answered with this like or with one before it) does not like the post again: so a command that
 * finds the like there already is noted in it, in earlierCommands, which holds the last 20.
 *
 * Container posts, partition key = postId. The like's id is made from the user's, so that the container itself refuses
 * a second one, also when two calls race.
 *
 * @param {object} like  the whole item: id, type "like", postId, userId, userUsername, nameVersion, creationDate, and
 *                       commandId when the command may be repeated
 * @returns {{item: object, created: boolean}}  the like as stored; created is false, and nothing was counted, when the
 *                                              user liked the post already or this command was carried out before
 * @throws 404 no such post, or it is deleted   503 an operation was refused: nothing was written, call again
 */
function createLike(like) {
    const MOST_EARLIER = 20;
    const collection = getContext().getCollection();
    const response = getContext().getResponse();
    const documents = collection.getAltLink() + "/docs/";

    required(collection.readDocument(documents + like.postId, function (error, post) {
        if (error && error.number !== ErrorCodes.NotFound) throw error;
        if (error || post.type !== "post") throw new Error(ErrorCodes.NotFound, "PostNotFound");
        createOnce(post);
    }));

    function createOnce(post) {
        required(collection.createDocument(collection.getSelfLink(), like, function (error, created) {
            if (error && error.number === ErrorCodes.Conflict) return lookAtExisting(post);
            if (error) throw error;
            count(post, created);
        }));
    }

    function count(post, created) {
        // A post of the article's V1 has no count; adding to undefined would store NaN, that is null.
        post.likeCount = (Number.isInteger(post.likeCount) ? post.likeCount : 0) + 1;
        post.version = (Number.isInteger(post.version) ? post.version : 0) + 1;
        required(collection.replaceDocument(post._self, post, { etag: post._etag }, function (error) {
            if (error) throw error;
            response.setBody({ item: created, created: true });
        }));
    }

    function lookAtExisting(post) {
        required(collection.readDocument(documents + like.id, function (error, existing) {
            if (error) throw error;
            const earlier = existing.earlierCommands || [];
            const known = like.commandId === existing.commandId || earlier.includes(like.commandId);
            if (like.commandId !== undefined && known) answerWith(Object.assign(existing, { type: "like" }));
            else if (existing.type !== "like") createAgain(post, existing, earlier);
            else if (like.commandId === undefined) answerWith(existing);
            else note(existing, earlier);
        }));
    }

    function createAgain(post, existing, earlier) {
        const kept = lastOf(existing.commandId === undefined ? earlier : earlier.concat(existing.commandId));
        const item = kept.length ? Object.assign({}, like, { earlierCommands: kept }) : like;
        required(collection.replaceDocument(existing._self, item, { etag: existing._etag }, function (error, created) {
            if (error) throw error;
            count(post, created);
        }));
    }

    function note(existing, earlier) {
        const noted = Object.assign({}, existing, { earlierCommands: lastOf(earlier.concat(like.commandId)) });
        required(collection.replaceDocument(existing._self, noted, { etag: existing._etag }, function (error, written) {
            if (error) throw error;
            answerWith(written);
        }));
    }

    function lastOf(commands) {
        return commands.slice(-MOST_EARLIER);
    }

    function answerWith(existing) {
        response.setBody({ item: existing, created: false });
    }

    // A refused operation is never run, while those accepted before it would still commit: only a throw undoes them.
    function required(accepted) {
        if (!accepted) throw new Error(503, "OperationRefused");
    }
}
