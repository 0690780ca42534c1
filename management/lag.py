"""The lag of the change-feed functions, and the leases that show it. Long, because it parses the format of the leases.

The lag is measured like by the .NET SDK's change feed estimator
(https://learn.microsoft.com/azure/cosmos-db/nosql/how-to-use-change-feed-estimator): read one change from each lease's
continuation token. An empty page means no lag. Otherwise the lag is the LSN in the session token, minus the change's
`_lsn`, plus one. This counts transactions, so a comment and its post's new count are one change. A delivery in progress
counts as waiting, so a busy blog always has some lag. Per function, costs a read of the container, a query of `leases`,
and one page per physical partition. Requires only the right to read items.

The Functions host keeps a lease per physical partition, in the undocumented format of the .NET SDK's change feed
processor (https://github.com/Azure/azure-cosmos-dotnet-v3, ChangeFeedProcessor/LeaseManagement). Anything unexpected is
rejected. A lease's ID is `<prefix><account host>_<database rid>_<container rid>..<token>`. `FeedRange` is a range of
keys. `ContinuationToken` is the quoted LSN of the last handled change, or null. `timestamp` is when `Owner` last
renewed the lease; a host that stops releases it (`Owner` is null). IDs ending in `.info` or `.lock` are not leases.
"""

from __future__ import annotations

import asyncio
import json
import re
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any, Literal
from urllib.parse import urlsplit

from azure.core import MatchConditions
from azure.cosmos.aio import ContainerProxy, DatabaseProxy
from rich.live import Live
from rich.table import Table

from management.errors import EXPECTED, ManagementError, sentence
from management.terminal import Terminal, say
from shared.containers import LEASES
from shared.platform.database.container import Container
from shared.platform.database.refusals import ItemMissing
from shared.platform.deliveries.change_feed import ChangeFeed
from shared.platform.models import Item
from shared.platform.settings import SettingsError
from shared.propagation.change_feeds import POSTS_CHANGE_FEED, USERS_CHANGE_FEED
from shared.settings import Settings

DEADLINE_S = 10.0
_INTERVAL_S = 2.0
_PAGE = 100
_ATTEMPTS = 3
_REPLICA_DELAY_S = 0.5
_CONTINUATION = re.compile(r'"?\d+"?')
_INCREMENTAL = "Incremental Feed"
_FIRST, _END = "", "FF"
# Twice the trigger's expiration interval (functions/change_feeds.py): another host has had time to acquire it.
_EXPIRED_AFTER_S = 30
_LEASES = (
    "SELECT c.id, c.FeedRange, c.ContinuationToken, c.Mode, c.Owner, c.timestamp FROM c"
    " WHERE STARTSWITH(c.id, @prefix) AND CONTAINS(c.id, @rids)"
)

State = Literal["known", "notStarted", "stalled", "unknown"]


class UnreadableLeasesError(ManagementError):
    """The leases do not show how far the function got."""


@dataclass(frozen=True)
class Lag:
    """The lag of one function.

    `seconds` is the age of the oldest waiting change by the database's clock; `changes` counts waiting transactions.
    `notStarted`: no leases exist. `stalled`: changes wait behind a lease whose owner is gone. `unknown`: see `problem`.
    """

    function: str
    state: State
    seconds: int | None = None
    changes: int | None = None
    problem: str = ""

    @property
    def advice(self) -> str:
        """What to do if no host handles the changes."""
        reset = f"If it runs, stop all hosts, run `manage.py leases reset {self.function}`, and start the app."
        if self.state == "notStarted" and self.changes:
            return f"The function has never run, or its leases were deleted. Start the app. {reset}"
        return f"No host renews a lease. Start the app. {reset}" if self.state == "stalled" else ""

    def is_fine(self, most_s: float | None) -> bool:
        """Return whether somebody handles the changes, and none has waited for more than `most_s` seconds."""
        if self.state == "notStarted":
            return self.changes == 0
        return self.state == "known" and (most_s is None or (self.seconds or 0) <= most_s)


async def measure_lags(
    database: DatabaseProxy, *, account_endpoint: str, deadline_s: float = DEADLINE_S
) -> dict[str, Lag]:
    """Measure all functions concurrently. If a measurement fails, the lag is unknown."""

    async def measure(feed: ChangeFeed) -> Lag:
        try:
            async with asyncio.timeout(deadline_s):
                return await _lag(database, feed, account_endpoint)
        except TimeoutError:
            problem = f"The database did not answer within {deadline_s:g} s."
        except EXPECTED as error:
            problem = sentence(error, None)
        return Lag(feed.function, "unknown", problem=problem)

    lags = await asyncio.gather(*map(measure, (USERS_CHANGE_FEED, POSTS_CHANGE_FEED)))
    return {lag.function: lag for lag in lags}


async def _lag(database: DatabaseProxy, feed: ChangeFeed, account_endpoint: str) -> Lag:
    watched, leases = _containers(database, feed)
    rids = await _rids_of(watched.proxy)
    parameters = {"prefix": feed.lease_prefix, "rids": rids}
    documents = [lease async for lease in leases.query_across(_LEASES, parameters, page_size=_PAGE)]
    found = positions(documents, prefix=_prefix(feed, account_endpoint), rids=rids)
    partitions = [KeyRange.of(feed_range) for feed_range in await watched.feed_ranges()]
    # Leases follow a split or merge of partitions late.
    parts = (
        (place, place.keys.within(partition))
        for place in found or [Position(KeyRange(_FIRST, _END), None)]
        for partition in partitions
    )
    places = [replace(place, keys=keys) for place, keys in parts if keys is not None]
    ages, counts = zip(*await asyncio.gather(*(_waiting(watched.proxy, place) for place in places)), strict=True)
    is_stalled = any(count and _is_expired(place.renewed) for count, place in zip(counts, places, strict=True))
    state: State = "stalled" if is_stalled else "known" if found else "notStarted"
    return Lag(feed.function, state, seconds=max(ages), changes=sum(counts))


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
    leases = sorted(found[prefix], key=lambda lease: lease.keys.first)
    bounds = [_FIRST, *(lease.keys.end for lease in leases)]
    if [lease.keys.first for lease in leases] != bounds[:-1] or bounds[-1] != _END:
        raise UnreadableLeasesError("The leases overlap or leave a gap.")
    return leases


def _position(lease: Mapping[str, Any]) -> Position:
    feed_range, continuation = lease.get("FeedRange"), lease.get("ContinuationToken")
    if not isinstance(feed_range, Mapping):
        raise UnreadableLeasesError("A lease has no feed range.")
    if lease.get("Mode", _INCREMENTAL) != _INCREMENTAL:
        raise UnreadableLeasesError("A lease has another change feed mode.")
    if continuation is not None and not (isinstance(continuation, str) and _CONTINUATION.fullmatch(continuation)):
        raise UnreadableLeasesError("A lease has an unknown kind of continuation token.")
    return Position(KeyRange.of(feed_range), continuation, _renewed_at(lease))


def _renewed_at(lease: Mapping[str, Any]) -> datetime | None:
    """Return when the lease's owner last renewed it; None without an owner. Raises UnreadableLeasesError."""
    if not lease.get("Owner"):
        return None
    try:
        moment = datetime.fromisoformat(str(lease.get("timestamp")))
    except ValueError:
        raise UnreadableLeasesError("A lease has no valid timestamp.") from None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def _is_expired(renewed: datetime | None) -> bool:
    """Return whether a lease's owner is gone, and no host has taken the lease. Its time is by the hosts' clock."""
    return renewed is not None and (datetime.now(UTC) - renewed).total_seconds() > _EXPIRED_AFTER_S


async def reset_leases(database: DatabaseProxy, feed: ChangeFeed, *, account_endpoint: str) -> int:
    """Delete a function's lease documents, and return their number. Raises ManagementError while a host runs.

    Without the `.info` document, the host creates the leases again when it starts, and reads the change feed from the
    beginning. It is safe to handle a change again.
    """
    watched, leases = _containers(database, feed)
    prefix = f"{_prefix(feed, account_endpoint)}_{await _rids_of(watched.proxy)}"
    # A host runs all functions, so it also shows in the leases of the others.
    documents = [lease async for lease in leases.query_across("SELECT * FROM c", {}, page_size=_PAGE)]
    if any(map(_is_in_use, documents)):
        raise ManagementError(f"A host is running. Stop all hosts, and try again after {_EXPIRED_AFTER_S} s.")
    documents = [lease for lease in documents if lease["id"].startswith(prefix)]
    for lease in documents:
        with suppress(ItemMissing):
            await leases.delete(lease["id"], lease["id"], etag=lease["_etag"])
    return len(documents)


def _is_in_use(lease: Mapping[str, Any]) -> bool:
    try:
        renewed = _renewed_at(lease)
    except UnreadableLeasesError:
        return False
    return renewed is not None and not _is_expired(renewed)


def _containers(database: DatabaseProxy, feed: ChangeFeed) -> tuple[Container, Container]:
    """Return the container that a function watches, and the container of the leases."""
    watched, leases = (Container(database.get_container_client(name)) for name in (feed.container, LEASES))
    return watched, leases


async def _rids_of(watched: ContainerProxy) -> str:
    """Return `<database rid>_<container rid>`, part of the lease IDs."""
    _, database_rid, _, container_rid, *_ = str((await watched.read())["_self"]).split("/")
    return f"{database_rid}_{container_rid}"


def _prefix(feed: ChangeFeed, account_endpoint: str) -> str:
    return f"{feed.lease_prefix}{urlsplit(account_endpoint).hostname or ''}"


async def report_lag(
    measure: Callable[[], Awaitable[Mapping[str, Lag]]], *, watch: bool, as_json: bool, most_s: float | None = None
) -> dict[str, bool]:
    """Show the lag once, or until cancelled; return which functions are fine."""
    lags = await measure()
    if as_json:
        _say_json(lags.values())
        while watch:
            await asyncio.sleep(_INTERVAL_S)
            _say_json((await measure()).values())
    elif watch:
        with Live(_table(lags.values()), console=Terminal(), auto_refresh=False) as live:
            while True:
                await asyncio.sleep(_INTERVAL_S)
                live.update(_table((await measure()).values()), refresh=True)
    else:
        Terminal().print(_table(lags.values()))
        for lag in lags.values():
            if lag.advice:
                say(f"{lag.function}: {lag.advice}")
    return {function: lag.is_fine(most_s) for function, lag in lags.items()}


def _say_json(lags: Iterable[Lag]) -> None:
    for lag in lags:
        fields = {"function": lag.function, "state": lag.state, "lagSeconds": lag.seconds, "lagChanges": lag.changes}
        say(json.dumps(fields | ({"problem": lag.problem} if lag.problem else {})))


def _table(lags: Iterable[Lag]) -> Table:
    table = Table("Function", "State")
    table.add_column("Seconds", justify="right")
    table.add_column("Changes", justify="right")
    for lag in lags:
        numbers = ("-" if number is None else f"{number:,}" for number in (lag.seconds, lag.changes))
        table.add_row(lag.function, lag.problem or lag.state, *numbers)
    return table


def record_check(configuration: Settings, are_fine: Mapping[str, bool]) -> None:
    """Send 0 for each function that is fine, and 1 for each other, to Application Insights, for the alert `standstill`.

    Without an account key, sign in as an identity. A failed export is logged. Raises SettingsError.
    """
    # Slow to import.
    from azure.identity import DefaultAzureCredential
    from azure.monitor.opentelemetry.exporter import AzureMonitorMetricExporter
    from opentelemetry.sdk.metrics import MeterProvider
    from opentelemetry.sdk.metrics.export import PeriodicExportingMetricReader

    try:
        exporter = AzureMonitorMetricExporter(
            connection_string=configuration.application_insights,
            credential=None if configuration.account.key else DefaultAzureCredential(),
            disable_offline_storage=True,
        )
    except ValueError:
        raise SettingsError(
            "set APPLICATIONINSIGHTS_CONNECTION_STRING to the connection string of Application Insights"
        ) from None
    provider = MeterProvider([PeriodicExportingMetricReader(exporter)])
    check = provider.get_meter("blog").create_gauge("blog.change_feed.check", "1", "1 if a function is not fine")
    for function, is_fine in are_fine.items():
        check.set(int(not is_fine), {"blog.function": function})
    provider.shutdown()
