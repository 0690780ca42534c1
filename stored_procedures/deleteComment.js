/**
 * Deletes a comment and decrements its count in one transaction.
 *
 * Container posts, partition key postId. Run again, it throws 404.
 *
 * @param {string} postId
 * @param {string} commentId
 * @param {string|null} creationDate  unless null, the comment must have it
 * @param {string} [traceparent]  the trace of the request, for the post
 * @returns {{deleted: boolean}}  always true
 * @throws 404 the post or the comment does not exist   412 the comment has another date
 *         503 an operation was not accepted: call again
 */
function deleteComment(postId, commentId, creationDate, traceparent) {
    const collection = getContext().getCollection();
    const documents = collection.getAltLink() + "/docs/";

    read(postId, "post", function (post) {
        read(commentId, "comment", function (comment) {
            if (creationDate !== null && comment.creationDate !== creationDate) {
                throw new Error(ErrorCodes.PreconditionFailed, "VersionMismatch");
            }
            required(collection.deleteDocument(comment._self, { etag: comment._etag }, function (error) {
                if (error) throw error;
                uncount(post);
            }));
        });
    });

    function read(id, type, next) {
        required(collection.readDocument(documents + id, function (error, item) {
            if (error && error.number !== ErrorCodes.NotFound) throw error;
            if (error || item.type !== type) throw new Error(ErrorCodes.NotFound, type + " not found");
            next(item);
        }));
    }

    function uncount(post) {
        post.commentCount = Math.max(0, (Number.isInteger(post.commentCount) ? post.commentCount : 0) - 1);
        post.version = (Number.isInteger(post.version) ? post.version : 0) + 1;
        post.traceparent = traceparent;
        required(collection.replaceDocument(post._self, post, { etag: post._etag }, function (error) {
            if (error) throw error;
            getContext().getResponse().setBody({ deleted: true });
        }));
    }

    // An operation that is not accepted never runs. Only a throw rolls back those before it.
    function required(accepted) {
        if (!accepted) throw new Error(503, "OperationRefused");
    }
}
