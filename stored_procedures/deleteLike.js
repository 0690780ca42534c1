/**
 * Deletes a like and decrements its count in one transaction.
 *
 * Container posts, partition key postId. Run again, it returns false.
 *
 * @param {string} postId
 * @param {string} likeId
 * @param {string|null} creationDate  unless null, the like must exist and have it
 * @param {string} [traceparent]  the trace of the request, for the post
 * @returns {{deleted: boolean}}  false if there is no such like
 * @throws 404 the post does not exist or is deleted   412 the date does not match
 *         503 an operation was not accepted: call again
 */
function deleteLike(postId, likeId, creationDate, traceparent) {
    const collection = getContext().getCollection();
    const documents = collection.getAltLink() + "/docs/";

    read(postId, "post", function (post) {
        if (!post) throw new Error(ErrorCodes.NotFound, "PostNotFound");
        read(likeId, "like", function (like) {
            if (creationDate !== null && !(like && like.creationDate === creationDate)) {
                throw new Error(ErrorCodes.PreconditionFailed, "VersionMismatch");
            }
            if (!like) return answer(false);
            required(collection.deleteDocument(like._self, { etag: like._etag }, function (error) {
                if (error) throw error;
                uncount(post);
            }));
        });
    });

    function read(id, type, next) {
        required(collection.readDocument(documents + id, function (error, item) {
            if (error && error.number !== ErrorCodes.NotFound) throw error;
            next(error || item.type !== type ? null : item);
        }));
    }

    function uncount(post) {
        post.likeCount = Math.max(0, (Number.isInteger(post.likeCount) ? post.likeCount : 0) - 1);
        post.version = (Number.isInteger(post.version) ? post.version : 0) + 1;
        post.traceparent = traceparent;
        required(collection.replaceDocument(post._self, post, { etag: post._etag }, function (error) {
            if (error) throw error;
            answer(true);
        }));
    }

    function answer(deleted) {
        getContext().getResponse().setBody({ deleted: deleted });
    }

    // An operation that is not accepted never runs. Only a throw rolls back those before it.
    function required(accepted) {
        if (!accepted) throw new Error(503, "OperationRefused");
    }
}
