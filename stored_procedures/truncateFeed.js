/**
 * Post-trigger: keeps the 100 most recent posts in the feed, by creationDate and then id.
 *
 * Container feed, partition key type. It runs in the transaction of the write that names it. A query "may not" see that
 * write, so the written item is merged into the result by id, which is right in either case.
 *
 * If it runs out of time, it keeps what it deleted so far and does not fail the write. The next write continues.
 */
function truncateFeed() {
    const FEED_LENGTH = 100;
    const collection = getContext().getCollection();
    const request = getContext().getRequest();
    const written = getContext().getResponse().getBody();
    const query = "SELECT c.id, c.creationDate, c._self FROM c ORDER BY c.type DESC, c.creationDate DESC, c.id DESC";
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
        // Pages come newest first, so the surplus of those read so far is surplus in the whole feed.
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
