"""Transactions by the article's stored procedures; see stored_procedures/README.md."""

from __future__ import annotations

from shared.database.container import Container
from shared.database.refusals import ScriptFailed
from shared.errors import CommentNotFound, IdempotencyKeyReused, PostNotFound
from shared.models.base import Item
from shared.models.comment import Comment
from shared.transactions.batches import Added, Batches

_NOT_FOUND, _DELETED, _KEY_REUSED = 404, 410, 422


class Procedures(Batches):
    """The same operations as `Batches`, with the same results and errors. Removals are batches, too."""

    feed_trigger = "truncateFeed"
    rename_procedure = "updateUsernames"

    async def add(self, posts: Container, item: Item, record: Item | None = None) -> Added:
        """One stored procedure."""
        procedure = "createComment" if item["type"] == Comment.TYPE else "createLike"
        try:
            answer = await posts.execute(procedure, item["postId"], item, record)
        except ScriptFailed as failure:
            if failure.number == _NOT_FOUND:
                raise PostNotFound(item["postId"]) from failure
            if failure.number == _DELETED:
                raise CommentNotFound(item["id"]) from failure
            if failure.number == _KEY_REUSED:
                raise IdempotencyKeyReused from failure
            raise
        return Added(answer["item"], answer["created"])
