"""The transactions of `posts`: by transactional batches, or by stored procedures and a trigger."""

from __future__ import annotations

from shared.settings import Settings
from shared.transactions.batches import Batches
from shared.transactions.procedures import Procedures
from shared.transactions.protocol import Added, Transactions

__all__ = ["BATCHES", "PROCEDURES", "Added", "Transactions", "transactions"]

BATCHES: Transactions = Batches()
PROCEDURES: Transactions = Procedures()


def transactions(settings: Settings) -> Transactions:
    """Return the implementation that `BLOG_TRANSACTIONS` selects."""
    return PROCEDURES if settings.transactions == "procedure" else BATCHES
