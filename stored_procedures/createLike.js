/**
 * Creates a like, its idempotency record and its count in one transaction.
 *
 * Container posts, partition key postId. The like's id is its user's, so a post has one like per user. Run again, it
 * returns the existing like; run again with the same record, it returns the like of the first run, even if that was
 * deleted. A like that already exists is therefore recorded, too.
 *
 * @param {object} like  the item to create
 * @param {object|null} record  the command's idempotency record; result has the properties of the like that it keeps
 * @returns {{item: object, created: boolean}}  the stored like; created is false if nothing was counted
 * @throws 404 the post does not exist or is deleted   503 an operation was not accepted: call again
 */
function createLike(like, record) {
    const collection = getContext().getCollection();
    const documents = collection.getAltLink() + "/docs/";

    read(like.postId, function (post) {
        if (!post || post.type !== "post") throw new Error(ErrorCodes.NotFound, "PostNotFound");
        if (!record) return createAll(post);
        read(record.id, function (stored) {
            if (stored) replay(stored);
            else createAll(post);
        });
    });

    function replay(stored) {
        const first = stored.result;
        read(like.id, function (existing) {
            if (existing && existing.creationDate === first.creationDate) return answer(existing, false);
            answer(Object.assign({ type: "like", postId: like.postId, _etag: stored._etag }, first), false);
        });
    }

    function createAll(post) {
        create(like, answerExisting, function (created) {
            createRecord(function () { count(post, created); });
        });
    }

    function answerExisting() {
        read(like.id, function (existing) {
            if (record) Object.keys(record.result).forEach(function (name) { record.result[name] = existing[name]; });
            createRecord(function () { answer(existing, false); });
        });
    }

    function createRecord(next) {
        if (record) create(record, null, next);
        else next();
    }

    function count(post, created) {
        // A V1 post has no count, and undefined + 1 is NaN, which is stored as null.
        post.likeCount = (Number.isInteger(post.likeCount) ? post.likeCount : 0) + 1;
        post.version = (Number.isInteger(post.version) ? post.version : 0) + 1;
        post.traceparent = like.traceparent;
        required(collection.replaceDocument(post._self, post, { etag: post._etag }, function (error) {
            if (error) throw error;
            answer(created, true);
        }));
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
