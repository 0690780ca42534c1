/**
 * Adds a comment to a post and counts it, in one transaction.
 *
 * Container posts, partition key = postId.
 *
 * @param {object} comment  the whole item: id, type "comment", postId, userId, userUsername, nameVersion, content,
 *                          creationDate, and commandId when the command may be repeated
 * @returns {{item: object, created: boolean}}  the comment as stored; created is false, and nothing was written, when
 *                                              a comment of this id was there already
 * @throws 404 no such post, or it is deleted   410 the comment of this id was deleted since
 *         503 an operation was refused: nothing was written, call again
 */
function createComment(comment) {
    const collection = getContext().getCollection();
    const response = getContext().getResponse();
    const documents = collection.getAltLink() + "/docs/";

    required(collection.readDocument(documents + comment.postId, function (error, post) {
        if (error && error.number !== ErrorCodes.NotFound) throw error;
        if (error || post.type !== "post") throw new Error(ErrorCodes.NotFound, "PostNotFound");
        createOnce(post);
    }));

    function createOnce(post) {
        required(collection.createDocument(collection.getSelfLink(), comment, function (error, created) {
            if (error && error.number === ErrorCodes.Conflict) return answerExisting();
            if (error) throw error;
            count(post, created);
        }));
    }

    function count(post, created) {
        // A post of the article's V1 has no count; adding to undefined would store NaN, that is null.
        post.commentCount = (Number.isInteger(post.commentCount) ? post.commentCount : 0) + 1;
        post.version = (Number.isInteger(post.version) ? post.version : 0) + 1;
        required(collection.replaceDocument(post._self, post, { etag: post._etag }, function (error) {
            if (error) throw error;
            response.setBody({ item: created, created: true });
        }));
    }

    function answerExisting() {
        required(collection.readDocument(documents + comment.id, function (error, existing) {
            if (error) throw error;
            if (existing.type !== "comment") throw new Error(410, "CommentDeleted");
            response.setBody({ item: existing, created: false });
        }));
    }

    // A refused operation is never run, while those accepted before it would still commit: only a throw undoes them.
    function required(accepted) {
        if (!accepted) throw new Error(503, "OperationRefused");
    }
}
