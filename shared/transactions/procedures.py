"""Additions by the article's stored procedures; see stored_procedures/README.md."""

from __future__ import annotations

from shared.errors import PostNotFound
from shared.models.comment import Comment
from shared.platform.database.container import Container
from shared.platform.database.refusals import ItemExists, ScriptFailed
from shared.platform.models import Item

_NOT_FOUND, _EXISTS = 404, 409


async def add_by_procedure(posts: Container, item: Item, record: Item | None = None) -> Item:
    """One stored procedure. It has the same results and errors as `add_item`."""
    procedure, parameters = (
        ("createComment", (item, record)) if item["type"] == Comment.TYPE else ("createLike", (item,))
    )
    try:
        created: Item = await posts.execute(procedure, item["postId"], *parameters)
    except ScriptFailed as failure:
        if failure.number == _NOT_FOUND:
            raise PostNotFound(item["postId"]) from failure
        if failure.number == _EXISTS:
            # The caller reads what exists, and the SDK keeps no session token of a script that fails.
            await posts.catch_up(item["postId"])
            raise ItemExists from failure
        raise
    return created
