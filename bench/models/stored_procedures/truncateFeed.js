// The operations of the article's trigger, including its flaws: it treats every write as an insert that its query does
// not see.
function truncateFeed() {
    const maximum = 100;
    const collection = getContext().getCollection();
    collection.queryDocuments(collection.getSelfLink(), "SELECT VALUE COUNT(1) FROM c", function (error, results) {
        if (error) throw error;
        const count = results[0];
        if (count + 1 > maximum) remove(count + 1 - maximum);
    });

    function remove(number) {
        const query = { query: "SELECT TOP " + number + " * FROM c ORDER BY c.creationDate" };
        collection.queryDocuments(collection.getSelfLink(), query.query, function (error, items) {
            if (error) throw error;
            items.forEach(function (item) { collection.deleteDocument(item._self); });
        });
    }
}
