/**
 * Takes a like back and uncounts it, in one transaction; a like that is not there is no error. One whose command may be
 * repeated leaves a mark in its place for a day, so that the repetition does not like the post again.
 *
 * Container posts, partition key = postId.
 *
 * @param {string} postId
 * @param {string} likeId
 * @param {string|null} etag  when given, the like must be there and still have it
 * @returns {{deleted: boolean}}  false when there was no such like
 * @throws 404 no such post, or it is deleted   412 the like has another etag, or is not there although one was given
 *         503 an operation was refused: nothing was written, call again
 */
function deleteLike(postId, likeId, etag) {
    const REPEATABLE_S = 24 * 3600;
    const collection = getContext().getCollection();
    const response = getContext().getResponse();
    const documents = collection.getAltLink() + "/docs/";

    required(collection.readDocument(documents + postId, function (error, post) {
        if (error && error.number !== ErrorCodes.NotFound) throw error;
        if (error || post.type !== "post") throw new Error(ErrorCodes.NotFound, "PostNotFound");
        readLike(post);
    }));

    function readLike(post) {
        required(collection.readDocument(documents + likeId, function (error, like) {
            if (error && error.number !== ErrorCodes.NotFound) throw error;
            const found = !error && like.type === "like";
            if (etag && !(found && like._etag === etag)) {
                throw new Error(ErrorCodes.PreconditionFailed, "VersionMismatch");
            }
            if (found) remove(post, like);
            else response.setBody({ deleted: false });
        }));
    }

    function remove(post, like) {
        const condition = { etag: like._etag };
        const removed = function (error) {
            if (error) throw error;
            uncount(post);
        };
        if (like.commandId === undefined && like.earlierCommands === undefined) {
            required(collection.deleteDocument(like._self, condition, removed));
        } else {
            const mark = Object.assign({}, like, { type: "deletedLike", ttl: REPEATABLE_S });
            required(collection.replaceDocument(like._self, mark, condition, removed));
        }
    }

    function uncount(post) {
        post.likeCount = Math.max(0, (Number.isInteger(post.likeCount) ? post.likeCount : 0) - 1);
        post.version = (Number.isInteger(post.version) ? post.version : 0) + 1;
        required(collection.replaceDocument(post._self, post, { etag: post._etag }, function (error) {
            if (error) throw error;
            response.setBody({ deleted: true });
        }));
    }

    // A refused operation is never run, while those accepted before it would still commit: only a throw undoes them.
    function required(accepted) {
        if (!accepted) throw new Error(503, "OperationRefused");
    }
}
