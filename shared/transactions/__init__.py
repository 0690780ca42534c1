"""Transactions of `posts`: a comment or like is written together with the post's count.

The simple path is `add_item` and `remove_item` in batches.py: one command is one transactional batch. Removals always
take it. For additions, `BLOG_TRANSACTIONS` selects group commit (the default) or the article's stored procedures.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from shared.platform.database.container import Container
from shared.platform.models import Item
from shared.settings import TransactionMode
from shared.transactions.group_commit import GroupCommit
from shared.transactions.procedures import add_by_procedure


@dataclass(frozen=True)
class Transactions:
    """How to add a comment or like, and which of the article's scripts the change-feed functions use."""

    # Adds an item to `posts`, with its idempotency record if it has one, as `add_item` does.
    add: Callable[[Container, Item, Item | None], Awaitable[Item]]
    # The trigger that keeps the front page's length; without one, the change-feed function deletes the surplus.
    front_page_trigger: str | None = None
    # The stored procedure that renames a user in a post; without one, the change-feed function writes batches.
    rename_procedure: str | None = None


def transactions(mode: TransactionMode) -> Transactions:
    """Return new transactions: by batches, or by the article's stored procedures and trigger."""
    if mode == "procedure":
        return Transactions(add_by_procedure, front_page_trigger="truncateFeed", rename_procedure="updateUsernames")
    return Transactions(GroupCommit().add)  # without group commit: add_item
