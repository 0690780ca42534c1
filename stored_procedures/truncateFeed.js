/**
 * Post-trigger: keeps the 100 most recent posts in the feed.
 *
 * Container feed, partition key = type. Runs in the transaction of the write that names it, whether that inserted,
 * replaced or deleted an item. Most recent: by creationDate, then by id. The service says only that a query "may not"
 * see what its transaction wrote, so the written item is merged into the query's answer by id: the outcome is the same
 * whether the query saw it, saw its old state, or did not see it.
 *
 * A feed that is too long for one run is cut as far as the time allows, and what was cut stays cut: the write must not
 * fail because of it. The next write that names the trigger goes on.
 */
function truncateFeed() {
    const FEED_LENGTH = 100;
    const collection = getContext().getCollection();
    const request = getContext().getRequest();
    const written = getContext().getResponse().getBody();
    const query = "SELECT c.id, c.creationDate, c._self FROM c ORDER BY c.creationDate DESC, c.id DESC";
    const entries = new Map();

    readPage(undefined);

    function readPage(continuation) {
        const options = { pageSize: 1000, continuation: continuation };
        const accepted = collection.queryDocuments(collection.getSelfLink(), query, options, function (error, page, info) {
            if (error) throw error;
            page.forEach(function (entry) { entries.set(entry.id, entry); });
            if (info.continuation) readPage(info.continuation);
            else mergeAndCut();
        });
        // The pages come newest first: what lies past the 100th of those read lies past it in the whole feed too.
        if (!accepted) mergeAndCut();
    }

    function mergeAndCut() {
        if (request.getOperationType() === "Delete") entries.delete(request.getBody().id);
        else if (written && written.id !== undefined) entries.set(written.id, written);
        const newestFirst = Array.from(entries.values()).sort(byRecency);
        cutOldest(newestFirst.slice(FEED_LENGTH));
    }

    function cutOldest(surplus) {
        if (surplus.length === 0) return;
        const accepted = collection.deleteDocument(surplus.pop()._self, function (error) {
            if (error && error.number !== ErrorCodes.NotFound) throw error;
            cutOldest(surplus);
        });
        if (!accepted) console.log("truncateFeed stopped with %s items to go", surplus.length + 1);
    }

    function byRecency(a, b) {
        if (a.creationDate !== b.creationDate) return a.creationDate < b.creationDate ? 1 : -1;
        return a.id < b.id ? 1 : a.id > b.id ? -1 : 0;
    }
}
