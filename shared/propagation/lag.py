"""How far the copies lag behind: for each change-feed function, the age of the oldest change that it has not handled
and how many there are.

Measured as the change feed estimator of the .NET SDK does (https://learn.microsoft.com/azure/cosmos-db/nosql/
how-to-use-change-feed-estimator; its ChangeFeedEstimatorIterator.cs): for each lease, one page of at most one change is
read from where the lease stands. Where there is none the function is up to date. Else the number in the answer's
session token minus the change's `_lsn`, plus one, is how many transactions are waiting: an item that changed twice is
two of them although its function will see one, a comment with the post's new count is one, and deletions count. So it
is right about none and some, and a good measure of more or less. The seconds are those from the change's `_ts` to the
moment of the answer, both by the database's clock, whole ones; an item that keeps changing is as old as its last
change.

A batch under way is not handled yet. So in a busy blog there is always some lag; it is no failure.

Costs, for each function, a read of the watched container's properties, a query of `leases`, one page of the change feed
for each physical partition, and once per process the list of these. An identity that may read items may do all of it.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from urllib.parse import urlsplit

from shared.containers import LEASES, lease_prefix
from shared.cosmos import Container, FeedLook, ItemMissing, open_container
from shared.errors import DatabaseThrottled, DatabaseUnavailable
from shared.logs import log
from shared.models.health import Lag
from shared.propagation import posts, users
from shared.propagation.batches import Reaction
from shared.propagation.leases import EVERYTHING, KeyRange, Position, UnreadableLeasesError, positions
from shared.settings import SettingsError, settings

DEADLINE_S = 2.0
# Whoever asks, the database is asked once in this time: the look costs more than that at what is ready, and anybody
# may ask for it.
KEPT_S = 5.0

REACTIONS = (users.REACTION, posts.REACTION)

_LEASE_PAGE = 100
_LEASES = (
    "SELECT c.id, c.FeedRange, c.ContinuationToken, c.Mode FROM c WHERE STARTSWITH(c.id, @prefix) AND"
    " CONTAINS(c.id, @rids)"
)
_EXPECTED = (DatabaseThrottled, DatabaseUnavailable, ItemMissing, SettingsError, UnreadableLeasesError, TimeoutError)


class Propagation:
    """Measures the lag of each function, at most once in `KEPT_S` seconds however many want to know."""

    def __init__(
        self,
        open_container: Callable[[str], Container] = open_container,
        clock: Callable[[], float] = time.monotonic,
        deadline_s: float = DEADLINE_S,
        account_endpoint: Callable[[], str] = lambda: settings().account_endpoint,
    ) -> None:
        self._open_container = open_container
        self._clock = clock
        self._deadline_s = deadline_s
        self._account_endpoint = account_endpoint
        self._asking = asyncio.Lock()
        self._asked_at = float("-inf")
        self._lags: dict[str, Lag] = {}

    async def lags(self) -> dict[str, Lag]:
        """By the function's name. Never fails: what cannot be found out before the deadline is unknown."""
        async with self._asking:
            if self._clock() - self._asked_at >= KEPT_S:
                measured = await asyncio.gather(*(self._lag(reaction) for reaction in REACTIONS))
                self._lags = {reaction.source: lag for reaction, lag in zip(REACTIONS, measured, strict=True)}
                self._asked_at = self._clock()
        return self._lags

    async def _lag(self, reaction: Reaction) -> Lag:
        try:
            async with asyncio.timeout(self._deadline_s):
                return await self._measured(reaction)
        except _EXPECTED as error:
            reason = error.reason if isinstance(error, DatabaseUnavailable) else str(error)
            log(logging.WARNING, "lag unknown", function=reaction.source, error=type(error).__name__, reason=reason)
            return Lag(state="unknown")

    async def _measured(self, reaction: Reaction) -> Lag:
        watched, leases = self._open_container(reaction.container), self._open_container(LEASES)
        rids = await watched.rids()
        prefix = lease_prefix(reaction.container)
        parameters = {"prefix": prefix, "rids": rids}
        documents = [lease async for lease in leases.query_across(_LEASES, parameters, page_size=_LEASE_PAGE)]
        host = urlsplit(self._account_endpoint()).hostname or ""
        found = positions(documents, prefix=f"{prefix}{host}", rids=rids)
        ranges = [KeyRange.of(feed_range) for feed_range in await watched.feed_ranges()]
        places = _by_partition(found or [Position(EVERYTHING, None)], ranges)
        looks = await asyncio.gather(
            *(watched.look_at_feed(place.keys.first, place.keys.end, place.continuation) for place in places)
        )
        waiting = [_waiting(look) for look in looks if look.change is not None]
        return Lag(
            state="known" if found else "notStarted",
            lag_seconds=max((one.seconds for one in waiting), default=0),
            lag_changes=sum(one.changes for one in waiting),
        )


def _by_partition(found: Iterable[Position], ranges: Iterable[KeyRange]) -> list[Position]:
    """The positions by physical partition: after a split or a merge, until the host has followed it, a lease is about
    several, or a part of one."""
    parts = ((place, place.keys.within(partition)) for place in found for partition in ranges)
    return [Position(keys, place.continuation) for place, keys in parts if keys is not None]


@dataclass(frozen=True)
class _Waiting:
    """Of one range."""

    seconds: int
    changes: int


def _waiting(look: FeedLook) -> _Waiting:
    """Raises UnreadableLeasesError when the answer lacks what the lag is made of."""
    change: Mapping[str, object] = look.change or {}
    number, second = change.get("_lsn"), change.get("_ts")
    if not isinstance(number, int) or not isinstance(second, int):
        raise UnreadableLeasesError("a change without its number or its time")
    return _Waiting(max(0, _moment(look.date) - second), max(1, _latest(look.session_token) - number + 1))


def _latest(session_token: str) -> int:
    """The number of the last transaction: `<range>:<version>#<number>#…`, or `<range>:<number>` of old."""
    parts = session_token.partition(":")[2].split("#")
    number = parts[1] if len(parts) > 1 else parts[0]
    if not number.isdecimal() or "," in session_token:
        raise UnreadableLeasesError("a session token of another form")
    return int(number)


def _moment(date: str) -> int:
    """Seconds since the epoch of the answer's `Date`; of this machine's clock where there is none."""
    try:
        return int(parsedate_to_datetime(date).timestamp())
    except ValueError:
        return int(time.time())
