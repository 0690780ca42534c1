"""Transactions of `posts`: a comment or like is written together with the post's count.

The simple path is `add_item` and `remove_item` in batches.py: one command is one transactional batch. Removals always
take it. For additions, `BLOG_TRANSACTIONS` selects group commit (the default) or the article's stored procedures.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from shared.errors import PostNotFound
from shared.models.comment import Comment
from shared.platform.database.container import Container
from shared.platform.database.refusals import ItemExists, ScriptFailed
from shared.platform.models import Item
from shared.settings import TransactionMode
from shared.transactions.group_commit import GroupCommit

_NOT_FOUND, _EXISTS = 404, 409


@dataclass(frozen=True)
class Transactions:
    """How to add a comment or like, and which of the article's scripts the change-feed functions use."""

    # Adds an item to `posts`, with its idempotency record if it has one, as `add_item` does.
    add: Callable[[Container, Item, Item | None], Awaitable[Item]]
    # The trigger that keeps the front page's length; the change-feed function deletes what it leaves.
    front_page_trigger: str | None = None
    # The stored procedure that renames a user in a post; without one, the change-feed function writes batches.
    rename_procedure: str | None = None


def transactions(mode: TransactionMode) -> Transactions:
    """Return new transactions: by batches, or by the article's stored procedures and trigger."""
    if mode == "procedure":
        return Transactions(add_by_procedure, front_page_trigger="truncateFeed", rename_procedure="updateUsernames")
    return Transactions(GroupCommit().add)  # without group commit: add_item


async def add_by_procedure(posts: Container, item: Item, record: Item | None = None) -> Item:
    """One stored procedure (stored_procedures/README.md), with the results and errors of `add_item` but ItemDamaged.

    A count or version that is not a number counts as 0.
    """
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
