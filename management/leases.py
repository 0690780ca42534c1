"""Parse the leases of the change-feed functions.

The Functions host keeps a lease per physical partition, in the undocumented format of the .NET SDK's change feed
processor (https://github.com/Azure/azure-cosmos-dotnet-v3, ChangeFeedProcessor/LeaseManagement). Anything unexpected is
rejected. A lease's ID is `<prefix><account host>_<database rid>_<container rid>..<token>`. `FeedRange` is a range of
keys. `ContinuationToken` is the quoted LSN of the last handled change, or null. `timestamp` is when `Owner` last
renewed the lease; a host that stops releases it (`Owner` is null). IDs ending in `.info` or `.lock` are not leases.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

_CONTINUATION = re.compile(r'"?\d+"?')
_INCREMENTAL = "Incremental Feed"
_FIRST, _END = "", "FF"
# Twice the trigger's expiration interval (functions/change_feeds.py): another host has had time to acquire it.
EXPIRED_AFTER_S = 30


class UnreadableLeasesError(Exception):
    """The leases do not show how far the function got."""


@dataclass(frozen=True)
class KeyRange:
    """Effective partition keys from `first` (inclusive) to `end` (exclusive)."""

    first: str
    end: str

    @classmethod
    def of(cls, feed_range: Mapping[str, Any]) -> KeyRange:
        """Parse a feed range. Raises UnreadableLeasesError."""
        bounds = feed_range.get("Range")
        if not isinstance(bounds, Mapping):
            raise UnreadableLeasesError("A feed range has no bounds.")
        first, end = bounds.get("min"), bounds.get("max")
        if not isinstance(first, str) or not isinstance(end, str) or first >= end:
            raise UnreadableLeasesError("A feed range has invalid bounds.")
        return cls(first, end)

    def within(self, other: KeyRange) -> KeyRange | None:
        first, end = max(self.first, other.first), min(self.end, other.end)
        return KeyRange(first, end) if first < end else None


@dataclass(frozen=True)
class Position:
    """Changes of `keys` are handled up to `continuation`; None if none are.

    `renewed` is when the lease's owner last renewed it; None if it has no owner.
    """

    keys: KeyRange
    continuation: str | None
    renewed: datetime | None = None


def is_expired(renewed: datetime | None, now: datetime) -> bool:
    """Return whether a lease's owner is gone, and no host has taken the lease."""
    return renewed is not None and (now - renewed).total_seconds() > EXPIRED_AFTER_S


EVERYTHING = KeyRange(_FIRST, _END)


def positions(documents: Iterable[Mapping[str, Any]], *, prefix: str, rids: str) -> list[Position]:
    """Return how far a function got in each range; empty if it has never run.

    `prefix` ends with the account's host name; `rids` is `<database rid>_<container rid>`. Skips leases of an earlier
    container with the same name. Raises UnreadableLeasesError if a lease cannot be parsed, if leases overlap or leave a
    gap, or if all belong to another host name of the account.
    """
    found: dict[str, list[Position]] = {}
    for document in documents:
        name, dots, token = str(document.get("id")).rpartition("..")
        if dots and token and name.endswith(f"_{rids}"):
            found.setdefault(name.removesuffix(f"_{rids}"), []).append(_position(document))
    if not found:
        return []
    if prefix not in found:
        raise UnreadableLeasesError("All leases belong to another address of the account.")
    return _checked(found[prefix])


def _position(lease: Mapping[str, Any]) -> Position:
    feed_range, continuation = lease.get("FeedRange"), lease.get("ContinuationToken")
    if not isinstance(feed_range, Mapping):
        raise UnreadableLeasesError("A lease has no feed range.")
    if lease.get("Mode", _INCREMENTAL) != _INCREMENTAL:
        raise UnreadableLeasesError("A lease has another change feed mode.")
    if continuation is not None and not (isinstance(continuation, str) and _CONTINUATION.fullmatch(continuation)):
        raise UnreadableLeasesError("A lease has an unknown kind of continuation token.")
    return Position(KeyRange.of(feed_range), continuation, renewed_at(lease))


def renewed_at(lease: Mapping[str, Any]) -> datetime | None:
    """Return when the lease's owner last renewed it; None without an owner. Raises UnreadableLeasesError."""
    if not lease.get("Owner"):
        return None
    try:
        moment = datetime.fromisoformat(str(lease.get("timestamp")))
    except ValueError:
        raise UnreadableLeasesError("A lease has no valid timestamp.") from None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def _checked(leases: list[Position]) -> list[Position]:
    in_order = sorted(leases, key=lambda lease: lease.keys.first)
    bounds = [_FIRST, *(lease.keys.end for lease in in_order)]
    if [lease.keys.first for lease in in_order] != bounds[:-1] or bounds[-1] != _END:
        raise UnreadableLeasesError("The leases overlap or leave a gap.")
    return in_order
