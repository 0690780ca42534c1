/**
 * Creates a like and its count in one transaction.
 *
 * Container posts, partition key postId. The like has the ID of its user, so a post has one like per user.
 *
 * @param {object} like  the item to create
 * @returns {object}  the stored like
 * @throws 404 the post does not exist or is deleted   409 the like exists
 *         503 an operation was not accepted: call again
 */
function createLike(like) {
    const collection = getContext().getCollection();

    readPost(function (post) {
        create(like, function (created) {
            count(post, created);
        });
    });

    function readPost(next) {
        required(collection.readDocument(collection.getAltLink() + "/docs/" + like.postId, function (error, post) {
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
        post.likeCount = (Number.isInteger(post.likeCount) ? post.likeCount : 0) + 1;
        post.version = (Number.isInteger(post.version) ? post.version : 0) + 1;
        post.traceparent = like.traceparent;
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
