"""Additions by the article's stored procedures; see stored_procedures/README.md."""

from __future__ import annotations

from shared.database.container import Container
from shared.database.refusals import ScriptFailed
from shared.errors import CommentNotFound, IdempotencyKeyReused, PostNotFound
from shared.models.base import Item
from shared.models.comment import Comment
from shared.transactions.batches import Added


async def add_by_procedure(posts: Container, item: Item, record: Item | None = None) -> Added:
    """One stored procedure. It has the same results and errors as `add_item`."""
    procedure = "createComment" if item["type"] == Comment.TYPE else "createLike"
    try:
        answer = await posts.execute(procedure, item["postId"], item, record)
    except ScriptFailed as failure:
        errors = {404: PostNotFound(item["postId"]), 410: CommentNotFound(item["id"]), 422: IdempotencyKeyReused()}
        if failure.number not in errors:
            raise
        raise errors[failure.number] from failure
    return Added(answer["item"], answer["created"])
