/**
 * Takes a comment away and uncounts it, in one transaction. One whose command may be repeated leaves a mark in its
 * place for a day, so that the repetition does not bring it back.
 *
 * Container posts, partition key = postId.
 *
 * @param {string} postId
 * @param {string} commentId
 * @param {string|null} etag  when given, the comment must still have it
 * @returns {{deleted: boolean}}  always true
 * @throws 404 no such post or comment   412 the comment has another etag
 *         503 an operation was refused: nothing was written, call again
 */
function deleteComment(postId, commentId, etag) {
    const REPEATABLE_S = 24 * 3600;
    const collection = getContext().getCollection();
    const response = getContext().getResponse();
    const documents = collection.getAltLink() + "/docs/";

    required(collection.readDocument(documents + postId, function (error, post) {
        if (error && error.number !== ErrorCodes.NotFound) throw error;
        if (error || post.type !== "post") throw new Error(ErrorCodes.NotFound, "PostNotFound");
        readComment(post);
    }));

    function readComment(post) {
        required(collection.readDocument(documents + commentId, function (error, comment) {
            if (error && error.number !== ErrorCodes.NotFound) throw error;
            if (error || comment.type !== "comment") throw new Error(ErrorCodes.NotFound, "CommentNotFound");
            if (etag && comment._etag !== etag) throw new Error(ErrorCodes.PreconditionFailed, "VersionMismatch");
            remove(post, comment);
        }));
    }

    function remove(post, comment) {
        const condition = { etag: comment._etag };
        const removed = function (error) {
            if (error) throw error;
            uncount(post);
        };
        if (comment.commandId === undefined) {
            required(collection.deleteDocument(comment._self, condition, removed));
        } else {
            const mark = { id: comment.id, type: "deletedComment", postId: comment.postId, ttl: REPEATABLE_S };
            required(collection.replaceDocument(comment._self, mark, condition, removed));
        }
    }

    function uncount(post) {
        post.commentCount = Math.max(0, (Number.isInteger(post.commentCount) ? post.commentCount : 0) - 1);
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
