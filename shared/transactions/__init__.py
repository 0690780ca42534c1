"""The transactions of `posts`: by transactional batches, or by stored procedures and a trigger."""

from __future__ import annotations

from shared.settings import Settings
from shared.transactions.batches import Added, Batches
from shared.transactions.group_commit import GroupCommit
from shared.transactions.procedures import Procedures

__all__ = ["BATCHES", "PROCEDURES", "Added", "Transactions", "transactions"]

Transactions = Batches

BATCHES = GroupCommit()
PROCEDURES = Procedures()


def transactions(settings: Settings) -> Transactions:
    """Return the implementation that `BLOG_TRANSACTIONS` selects."""
    return PROCEDURES if settings.transactions == "procedure" else BATCHES
