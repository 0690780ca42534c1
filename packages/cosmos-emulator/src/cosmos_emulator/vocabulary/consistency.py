"""Consistency levels: the account's, which a request can weaken, and what reads see and cost."""

from __future__ import annotations

from functools import lru_cache
from typing import Final, Literal

from cosmos_emulator.errors import CosmosError
from cosmos_emulator.vocabulary.names import canonical

ConsistencyLevel = Literal["Strong", "BoundedStaleness", "Session", "ConsistentPrefix", "Eventual"]
LEVELS: Final[tuple[ConsistencyLevel, ...]] = (
    "Eventual",
    "ConsistentPrefix",
    "Session",
    "BoundedStaleness",
    "Strong",
)
STALENESS_PREFIX: Final = 10
"""The writes that a read can miss with BoundedStaleness: the minimum of an account with one region.

Source: learn.microsoft.com/azure/cosmos-db/consistency-levels#bounded-staleness-consistency.
"""
REPLICAS_READ: Final[dict[ConsistencyLevel, int]] = dict.fromkeys(LEVELS, 1) | {"Strong": 2, "BoundedStaleness": 2}
"""How many replicas serve a read, each of which charges for it.

Source: learn.microsoft.com/azure/cosmos-db/consistency-levels#consistency-levels-and-throughput.
"""


@lru_cache(maxsize=64)  # called several times per request
def consistency_of(given: str | None, account_level: ConsistencyLevel) -> ConsistencyLevel:
    """Return the level of a request. Raises 400 if it is unknown, or stronger than the account's."""
    if given is None:
        return account_level
    name = canonical(given, LEVELS)
    level = next((one for one in LEVELS if one == name), None)
    if level is None:
        raise CosmosError(400, f"The consistency level {given!r} is unknown; use {', '.join(LEVELS)}.")
    if LEVELS.index(level) > LEVELS.index(account_level):
        raise CosmosError(
            400, f"The consistency level {level} of the request is stronger than the account's, {account_level}."
        )
    return level
