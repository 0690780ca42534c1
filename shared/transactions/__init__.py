"""The transactions of `posts`: by transactional batches, or by stored procedures and a trigger."""

from __future__ import annotations

from shared.settings import Settings
from shared.transactions.batches import Added, Batches
from shared.transactions.procedures import Procedures

__all__ = ["BATCHES", "PROCEDURES", "Added", "Transactions", "transactions"]

Transactions = Batches | Procedures

BATCHES = Batches()
PROCEDURES = Procedures()


def transactions(settings: Settings) -> Transactions:
    """Return the implementation that `BLOG_TRANSACTIONS` selects."""
    return PROCEDURES if settings.transactions == "procedure" else BATCHES
