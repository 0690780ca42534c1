// The operations of the article's procedure, including its flaws: it concatenates the query and reads only one page.
function updateUsernames(userId, username) {
    const collection = getContext().getCollection();
    const query = "SELECT * FROM c WHERE c.userId = '" + userId + "'";
    collection.queryDocuments(collection.getSelfLink(), query, function (error, items) {
        if (error) throw error;
        items.forEach(function (item) {
            item.userUsername = username;
            collection.replaceDocument(item._self, item);
        });
    });
}
