/**
 * Creates a comment, its idempotency record and its count in one transaction.
 *
 * Container posts, partition key postId.
 *
 * @param {object} comment  the item to create
 * @param {object|null} record  the command's idempotency record, if it has one
 * @returns {object}  the stored comment
 * @throws 404 the post does not exist or is deleted   409 the comment or the record exists
 *         503 an operation was not accepted: call again
 */
function createComment(comment, record) {
    const collection = getContext().getCollection();

    readPost(function (post) {
        create(comment, function (created) {
            if (!record) count(post, created);
            else create(record, function () { count(post, created); });
        });
    });

    function readPost(next) {
        required(collection.readDocument(collection.getAltLink() + "/docs/" + comment.postId, function (error, post) {
            if (error && error.number !== ErrorCodes.NotFound) throw error;
            if (error || post.type !== "post") throw new Error(ErrorCodes.NotFound, "PostNotFound");
            next(post);
        }));
    }

    function create(item, next) {
        required(collection.createDocument(collection.getSelfLink(), item, function (error, created) {
            if (error) throw error;
            next(created);
        }));
    }

    function count(post, created) {
        // A V1 post has no count, and undefined + 1 is NaN, which is stored as null.
        post.commentCount = (Number.isInteger(post.commentCount) ? post.commentCount : 0) + 1;
        post.version = (Number.isInteger(post.version) ? post.version : 0) + 1;
        post.traceparent = comment.traceparent;
        required(collection.replaceDocument(post._self, post, { etag: post._etag }, function (error) {
            if (error) throw error;
            getContext().getResponse().setBody(created);
        }));
    }

    // An operation that is not accepted never runs. Only a throw rolls back those before it.
    function required(accepted) {
        if (!accepted) throw new Error(503, "OperationRefused");
    }
}
