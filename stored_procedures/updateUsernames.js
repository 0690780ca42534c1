/**
 * Carries a changed username to a user's post, comments and like in one logical partition.
 *
 * Container posts, partition key = postId. An item is touched only when its name differs and was not written by a
 * later rename (nameVersion), so that a call that comes late or twice changes nothing back. Call again until `more` is
 * false: each call goes on by itself, because what it has renamed no longer matches.
 *
 * @param {string} userId
 * @param {string} username
 * @param {number} nameVersion  the number of the rename that gave the user this name
 * @returns {{updated: number, more: boolean}}  more: the script stopped early, some items still have the old name
 * @throws whatever the container answers; nothing of this call was written then
 */
function updateUsernames(userId, username, nameVersion) {
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
        const options = { pageSize: 100, continuation: continuation };
        const accepted = collection.queryDocuments(collection.getSelfLink(), query, options, function (error, items, info) {
            if (error) throw error;
            rename(items, 0, info.continuation);
        });
        if (!accepted) answer(true);
    }

    function rename(items, index, continuation) {
        if (index < items.length) renameOne(items, index, continuation);
        else if (continuation) readPage(continuation);
        else answer(false);
    }

    function renameOne(items, index, continuation) {
        const item = items[index];
        item.userUsername = username;
        item.nameVersion = nameVersion;
        if (item.type === "post") item.version = (Number.isInteger(item.version) ? item.version : 0) + 1;
        const accepted = collection.replaceDocument(item._self, item, { etag: item._etag }, function (error) {
            if (error) throw error;
            updated += 1;
            rename(items, index + 1, continuation);
        });
        // Time is up. Each replacement stands for itself, so what is done may commit and the caller goes on from here.
        if (!accepted) answer(true);
    }

    function answer(more) {
        response.setBody({ updated: updated, more: more });
    }
}
