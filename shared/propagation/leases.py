"""How far a function got with its change feed, as its lease documents say.

The Functions host keeps a lease for each physical partition of the watched container, in `leases`. Their shape is that
of the change feed processor of the .NET SDK, which the host's extension is built on
(https://github.com/Azure/azure-cosmos-dotnet-v3, ChangeFeedProcessor/LeaseManagement): a lease's id is
`<prefix><account host>_<database rid>_<container rid>..<token>`; `FeedRange` says which keys it is about, and
`ContinuationToken` is the quoted number (LSN) of the last change handled, null before the first. Other documents with
the prefix (`.info`, `.lock`) are none of a range. That shape is no contract, so what is not exactly so is refused.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

_CONTINUATION = re.compile(r'"?\d+"?')
_INCREMENTAL = "Incremental Feed"
# All effective partition keys, hexadecimal.
_FIRST, _END = "", "FF"


class UnreadableLeasesError(Exception):
    """The leases do not say how far the function got; the message says why."""


@dataclass(frozen=True)
class KeyRange:
    """Effective partition keys from `first` up to, without, `end`."""

    first: str
    end: str

    @classmethod
    def of(cls, feed_range: Mapping[str, Any]) -> KeyRange:
        """Of a feed range, as leases and the SDK have it. Raises UnreadableLeasesError."""
        bounds = feed_range.get("Range")
        if not isinstance(bounds, Mapping):
            raise UnreadableLeasesError("a feed range without its bounds")
        first, end = bounds.get("min"), bounds.get("max")
        if not isinstance(first, str) or not isinstance(end, str) or first >= end:
            raise UnreadableLeasesError("a feed range whose bounds are none")
        return cls(first, end)

    def within(self, other: KeyRange) -> KeyRange | None:
        """The keys that are in both, if any."""
        first, end = max(self.first, other.first), min(self.end, other.end)
        return KeyRange(first, end) if first < end else None


@dataclass(frozen=True)
class Position:
    """Of the changes of `keys`, those up to `continuation` have been handled; none where it is None."""

    keys: KeyRange
    continuation: str | None


EVERYTHING = KeyRange(_FIRST, _END)


def positions(documents: Iterable[Mapping[str, Any]], *, prefix: str, rids: str) -> list[Position]:
    """How far a function got, range by range; empty where it has never begun.

    `documents` are items of `leases`, `prefix` is the function's with the host name of the account, `rids` the watched
    container's `<database rid>_<container rid>`; leases of a former container of the name are passed over. Raises
    UnreadableLeasesError when one cannot be read, when they leave keys out or overlap, and when there are leases, but
    only of another host name of the account: then who knows whether they are in use.
    """
    found: dict[str, list[Position]] = {}
    for document in documents:
        name, dots, token = str(document.get("id")).rpartition("..")
        if dots and token and name.endswith(f"_{rids}"):
            found.setdefault(name.removesuffix(f"_{rids}"), []).append(_position(document))
    if not found:
        return []
    if prefix not in found:
        raise UnreadableLeasesError("leases of another address of the account only")
    return _checked(found[prefix])


def _position(lease: Mapping[str, Any]) -> Position:
    feed_range, continuation = lease.get("FeedRange"), lease.get("ContinuationToken")
    if not isinstance(feed_range, Mapping):
        raise UnreadableLeasesError("a lease without its feed range")
    if lease.get("Mode", _INCREMENTAL) != _INCREMENTAL:
        raise UnreadableLeasesError("a lease of another change feed mode")
    if continuation is None:
        return Position(KeyRange.of(feed_range), None)
    if not isinstance(continuation, str) or not _CONTINUATION.fullmatch(continuation):
        raise UnreadableLeasesError("a continuation that is no position in the feed")
    return Position(KeyRange.of(feed_range), continuation)


def _checked(leases: list[Position]) -> list[Position]:
    """The leases in the order of their keys. Raises UnreadableLeasesError unless each key is in exactly one."""
    in_order = sorted(leases, key=lambda lease: lease.keys.first)
    bounds = [_FIRST, *(lease.keys.end for lease in in_order)]
    if [lease.keys.first for lease in in_order] != bounds[:-1] or bounds[-1] != _END:
        raise UnreadableLeasesError("leases that leave keys out or overlap")
    return in_order
