// The article's "similar procedure for likes", derived from its createComment.
function createLike(like) {
    const collection = getContext().getCollection();
    collection.readDocument(collection.getAltLink() + "/docs/" + like.postId, function (error, post) {
        if (error) throw error;
        post.likeCount++;
        collection.replaceDocument(post._self, post, function (error) {
            if (error) throw error;
            collection.createDocument(collection.getSelfLink(), like);
        });
    });
}
