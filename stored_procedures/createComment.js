/**
 * Creates a comment, its idempotency record and its count in one transaction.
 *
 * Container posts, partition key postId. A repeated call with the same parameters returns the same comment.
 *
 * @param {object} comment  the item to create
 * @param {object|null} record  the command's idempotency record: id, fingerprint, ttl and more
 * @returns {{item: object, created: boolean}}  the stored comment; created is false if it existed
 * @throws 404 the post does not exist or is deleted   410 the comment was deleted since
 *         422 the record exists with another fingerprint, or the comment exists and its record has expired
 *         503 an operation was not accepted: call again
 */
function createComment(comment, record) {
    const collection = getContext().getCollection();
    const documents = collection.getAltLink() + "/docs/";

    read(comment.postId, function (post) {
        if (!post || post.type !== "post") throw new Error(ErrorCodes.NotFound, "PostNotFound");
        if (!record) return createAll(post);
        read(record.id, function (stored) {
            if (!stored) return createAll(post);
            if (stored.fingerprint !== record.fingerprint) refuseKey();
            answerExisting();
        });
    });

    function createAll(post) {
        create(comment, record ? refuseKey : answerExisting, function (created) {
            if (!record) count(post, created);
            else create(record, null, function () { count(post, created); });
        });
    }

    function count(post, created) {
        // A V1 post has no count, and undefined + 1 is NaN, which is stored as null.
        post.commentCount = (Number.isInteger(post.commentCount) ? post.commentCount : 0) + 1;
        post.version = (Number.isInteger(post.version) ? post.version : 0) + 1;
        post.traceparent = comment.traceparent;
        required(collection.replaceDocument(post._self, post, { etag: post._etag }, function (error) {
            if (error) throw error;
            answer(created, true);
        }));
    }

    function refuseKey() {
        throw new Error(422, "IdempotencyKeyReused");
    }

    function answerExisting() {
        read(comment.id, function (existing) {
            if (!existing) throw new Error(410, "CommentDeleted");
            answer(existing, false);
        });
    }

    function answer(item, created) {
        getContext().getResponse().setBody({ item: item, created: created });
    }

    function read(id, next) {
        required(collection.readDocument(documents + id, function (error, item) {
            if (error && error.number !== ErrorCodes.NotFound) throw error;
            next(error ? null : item);
        }));
    }

    function create(item, onConflict, next) {
        required(collection.createDocument(collection.getSelfLink(), item, function (error, created) {
            if (error && error.number === ErrorCodes.Conflict && onConflict) return onConflict();
            if (error) throw error;
            next(created);
        }));
    }

    // An operation that is not accepted never runs. Only a throw rolls back those before it.
    function required(accepted) {
        if (!accepted) throw new Error(503, "OperationRefused");
    }
}
