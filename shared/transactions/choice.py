"""Which of the two ways this process takes."""

from __future__ import annotations

from dataclasses import dataclass

from shared.data.contributions import Contributions
from shared.propagation.rename_fanout import Renames
from shared.settings import Settings
from shared.transactions.contribution_batches import ContributionBatches
from shared.transactions.contribution_procedures import ContributionProcedures
from shared.transactions.rename_batches import RenameBatches
from shared.transactions.rename_procedures import RenameProcedure


@dataclass(frozen=True)
class Transactions:
    """How comments, likes and names are written; and the trigger that keeps the feed's length, None where the reaction
    deletes what is too much."""

    contributions: Contributions
    renames: Renames
    feed_trigger: str | None


BATCHES = Transactions(ContributionBatches(), RenameBatches(), feed_trigger=None)
PROCEDURES = Transactions(ContributionProcedures(), RenameProcedure(), feed_trigger="truncateFeed")


def chosen(configuration: Settings) -> Transactions:
    """The way that the settings name."""
    return PROCEDURES if configuration.transactions == "procedure" else BATCHES
