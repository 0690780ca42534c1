"""Lag of the change-feed functions.

Measured like the .NET SDK's change feed estimator
(https://learn.microsoft.com/azure/cosmos-db/nosql/how-to-use-change-feed-estimator): read one change from each lease's
continuation token. An empty page means no lag. Otherwise the lag is the LSN in the session token, minus the change's
`_lsn`, plus one.

This counts transactions, so a comment and its post's new count are one change. A delivery in progress counts as
waiting, so a busy blog always has some lag.

Per function, costs a read of the container, a query of `leases`, and one page per physical partition. Requires only the
right to read items.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

from azure.core import MatchConditions
from azure.cosmos.aio import ContainerProxy

from management.leases import (
    EVERYTHING,
    KeyRange,
    Position,
    UnreadableLeasesError,
    is_expired,
    positions,
)
from shared.platform.database.container import Container
from shared.platform.deliveries.change_feed import ChangeFeed
from shared.platform.models import Item

_LEASE_PAGE = 100
_ATTEMPTS = 3
_REPLICA_DELAY_S = 0.5
_LEASES = (
    "SELECT c.id, c.FeedRange, c.ContinuationToken, c.Mode, c.Owner, c.timestamp FROM c"
    " WHERE STARTSWITH(c.id, @prefix) AND CONTAINS(c.id, @rids)"
)


@dataclass(frozen=True)
class FeedProgress:
    """`seconds` is the age of the oldest waiting change by the database's clock; `changes` counts transactions.

    Without leases, the function has never run. `is_stalled` if changes wait behind an expired lease.
    """

    has_leases: bool
    seconds: int
    changes: int
    is_stalled: bool


async def measure_progress(feed: ChangeFeed, watched: Container, leases: Container, host: str) -> FeedProgress:
    """Measure one function, which watches a container of the account at `host`. Raises UnreadableLeasesError."""
    rids = await rids_of(watched.proxy)
    parameters = {"prefix": feed.lease_prefix, "rids": rids}
    documents = [lease async for lease in leases.query_across(_LEASES, parameters, page_size=_LEASE_PAGE)]
    found = positions(documents, prefix=f"{feed.lease_prefix}{host}", rids=rids)
    partitions = [KeyRange.of(feed_range) for feed_range in await watched.feed_ranges()]
    places = _by_partition(found or [Position(EVERYTHING, None)], partitions)
    waiting = await asyncio.gather(*(_waiting(watched.proxy, place) for place in places))
    ages, counts = zip(*waiting, strict=True)
    now = datetime.now(UTC)  # the hosts' clock, not the database's, is in leases
    is_stalled = any(count and is_expired(place.renewed, now) for count, place in zip(counts, places, strict=True))
    return FeedProgress(bool(found), max(ages), sum(counts), is_stalled)


async def rids_of(watched: ContainerProxy) -> str:
    """Return `<database rid>_<container rid>`, part of the lease IDs."""
    _, database_rid, _, container_rid, *_ = str((await watched.read())["_self"]).split("/")
    return f"{database_rid}_{container_rid}"


def _by_partition(found: Iterable[Position], partitions: Iterable[KeyRange]) -> list[Position]:
    """Split positions at partition boundaries: leases follow a split or merge late."""
    parts = ((place, place.keys.within(partition)) for place in found for partition in partitions)
    return [replace(place, keys=keys) for place, keys in parts if keys is not None]


async def _waiting(watched: ContainerProxy, place: Position) -> tuple[int, int]:
    """Read one change after `place`; return its age in seconds, and how many wait. Raises UnreadableLeasesError."""
    for _ in range(_ATTEMPTS):
        changes, headers = await _page_after(watched, place)
        if changes:
            return _age_and_number(changes[0], headers)
        latest = headers.get("x-ms-session-token")
        if place.continuation is None or latest is None or int(place.continuation.strip('"')) <= _latest_lsn(latest):
            return 0, 0
        await asyncio.sleep(_REPLICA_DELAY_S)  # a lagging replica may have responded
    raise UnreadableLeasesError("A continuation token is beyond the end of the change feed, so no changes are read.")


async def _page_after(watched: ContainerProxy, place: Position) -> tuple[list[Item], Mapping[str, str]]:
    """Read at most one change after `place`, and the headers of the response."""
    headers: dict[str, str] = {}

    def keep_headers(response_headers: Mapping[str, str], _: object) -> None:
        headers.update((name.lower(), value) for name, value in response_headers.items())

    # "Beginning" sends no condition, so the lease's etag applies.
    condition: dict[str, Any] = {}
    if place.continuation is not None:
        condition = {"etag": place.continuation, "match_condition": MatchConditions.IfModified}
    bounds = {"min": place.keys.first, "max": place.keys.end, "isMinInclusive": True, "isMaxInclusive": False}
    pages = watched.query_items_change_feed(
        feed_range={"Range": bounds}, start_time="Beginning", max_item_count=1, response_hook=keep_headers, **condition
    ).by_page()
    page = await anext(pages, None)
    return [] if page is None else [change async for change in page], headers


def _age_and_number(oldest: Item, headers: Mapping[str, str]) -> tuple[int, int]:
    number, second = oldest.get("_lsn"), oldest.get("_ts")
    if not isinstance(number, int) or not isinstance(second, int):
        raise UnreadableLeasesError("A change has no _lsn or no _ts.")
    latest = _latest_lsn(headers.get("x-ms-session-token", ""))
    return max(0, server_time(headers.get("date", "")) - second), max(1, latest - number + 1)


def _latest_lsn(session_token: str) -> int:
    """Parse `<range>:<version>#<lsn>#…`, or the older `<range>:<lsn>`."""
    parts = session_token.partition(":")[2].split("#")
    number = parts[1] if len(parts) > 1 else parts[0]
    if not number.isdecimal() or "," in session_token:
        raise UnreadableLeasesError("The session token has an unknown format.")
    return int(number)


def server_time(date: str) -> int:
    """Parse a `Date` header, or use the local clock."""
    try:
        return int(parsedate_to_datetime(date).timestamp())
    except ValueError:
        return int(time.time())
