/**
 * Writes a user's current username to their post, comments and like in one logical partition.
 *
 * Container posts, partition key postId. Items with this username or a later nameVersion are skipped, so late and
 * repeated calls are safe. Call again while `more` is true.
 *
 * @param {string} userId
 * @param {string} username
 * @param {number} nameVersion  the number of the rename that chose this username
 * @param {object} [options]
 * @param {number} [options.limit]  the most items that one call renames; without it, all for which there is time
 * @param {string} [options.traceparent]  the trace of the rename, for the items
 * @returns {{updated: number, more: boolean}}  more: the limit or the time ran out before all items were renamed
 * @throws the container's errors: then this call wrote nothing
 */
function updateUsernames(userId, username, nameVersion, options) {
    const limit = options && options.limit;
    const collection = getContext().getCollection();
    const response = getContext().getResponse();
    const query = {
        query:
            "SELECT * FROM c WHERE c.userId = @userId AND c.type IN ('post', 'comment', 'like')" +
            " AND (NOT IS_DEFINED(c.userUsername) OR c.userUsername != @username)" +
            " AND (NOT IS_DEFINED(c.nameVersion) OR c.nameVersion <= @nameVersion)",
        parameters: [
            { name: "@userId", value: userId },
            { name: "@username", value: username },
            { name: "@nameVersion", value: nameVersion }
        ]
    };
    let updated = 0;

    readPage(undefined);

    function readPage(continuation) {
        const options = { pageSize: limit || 100, continuation: continuation };
        const accepted = collection.queryDocuments(collection.getSelfLink(), query, options, function (error, items, info) {
            if (error) throw error;
            renameFrom(items, 0, info.continuation);
        });
        if (!accepted) answer(true);
    }

    function renameFrom(items, index, continuation) {
        if (index === items.length && !continuation) answer(false);
        else if (updated === limit) answer(true);
        else if (index < items.length) renameOne(items, index, continuation);
        else readPage(continuation);
    }

    function renameOne(items, index, continuation) {
        const item = items[index];
        item.userUsername = username;
        item.nameVersion = nameVersion;
        item.traceparent = options && options.traceparent;
        if (item.type === "post") item.version = (Number.isInteger(item.version) ? item.version : 0) + 1;
        const accepted = collection.replaceDocument(item._self, item, { etag: item._etag }, function (error) {
            if (error) throw error;
            updated += 1;
            renameFrom(items, index + 1, continuation);
        });
        // Out of time. The replacements so far may commit, and the next call finds the rest.
        if (!accepted) answer(true);
    }

    function answer(more) {
        response.setBody({ updated: updated, more: more });
    }
}
