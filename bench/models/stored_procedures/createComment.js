// The operations of the article's procedure, including its flaws: it checks nothing.
function createComment(comment) {
    const collection = getContext().getCollection();
    collection.readDocument(collection.getAltLink() + "/docs/" + comment.postId, function (error, post) {
        if (error) throw error;
        post.commentCount++;
        collection.replaceDocument(post._self, post, function (error) {
            if (error) throw error;
            collection.createDocument(collection.getSelfLink(), comment);
        });
    });
}
