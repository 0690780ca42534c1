"""GET …/docs with `A-IM`: the change feed, of latest versions or of all versions and deletes.

Sources: learn.microsoft.com/azure/cosmos-db/change-feed-modes; azure-cosmos _change_feed.
"""

from __future__ import annotations

import asyncio
from datetime import UTC
from decimal import Decimal
from email.utils import parsedate_to_datetime
from typing import Final, Protocol, TypeVar

from cosmos_emulator import json_text
from cosmos_emulator.errors import CosmosError
from cosmos_emulator.json_text import JsonObject
from cosmos_emulator.messages import headers as h
from cosmos_emulator.messages.answer import Answer, feed_answer, slices_headers
from cosmos_emulator.messages.request import Request
from cosmos_emulator.messages.scope import at_replicas, slices_of
from cosmos_emulator.reads.paging import MAX_PAGE_BYTES
from cosmos_emulator.reads.slices import Slice
from cosmos_emulator.store.account import Container
from cosmos_emulator.store.change_log import LoggedChange
from cosmos_emulator.store.items import StoredItem

_LATEST: Final = "incremental feed"
_ALL: Final = "full-fidelity feed"
_NOW: Final = "*"
_LSN_BITS: Final = 64
_SLOT_BITS: Final = 96  # a partition and an LSN
_WINDOW: Final = 4000  # LSNs per read

Change = TypeVar("Change", StoredItem, LoggedChange)


class _Feed(Protocol[Change]):
    """The changes of a mode."""

    def check(self, one: Slice, after: int) -> None: ...

    def next_lsn(self, one: Slice, after: int) -> int | None: ...

    def read(self, one: Slice, after: int, until: int, limit: int) -> list[Change]: ...

    def shown(self, change: Change) -> bytes: ...


async def handle(request: Request) -> Answer:
    """Return changes in LSN order, or 304. The etag is the start of the next page."""
    mode = request.headers[h.A_IM].lower()
    container = request.container
    if mode == _LATEST:
        return await _answer(request, container, _LatestVersions(request))
    if mode != _ALL:
        raise CosmosError(
            400,
            f"The change feed mode {request.headers[h.A_IM]!r} is unknown; use 'Incremental Feed' or "
            "'Full-Fidelity Feed'.",
        )
    return await _answer(request, container, _AllVersions(request, container))


class _LatestVersions:
    def __init__(self, request: Request) -> None:
        since = None if h.IF_NONE_MATCH in request.headers else request.headers.get(h.IF_MODIFIED_SINCE)
        self._since_s = -1 if since is None else _seconds(since)

    def check(self, _one: Slice, _after: int) -> None:
        """Accept any position."""

    def next_lsn(self, one: Slice, after: int) -> int | None:
        return one.items.next_lsn(after)

    def read(self, one: Slice, after: int, until: int, limit: int) -> list[StoredItem]:
        return one.items.changes(one.scope, after, until, self._since_s, limit)

    def shown(self, item: StoredItem) -> bytes:
        return b'%b,"_lsn":%d}' % (item.body[:-1], item.lsn)


class _AllVersions:
    """All versions and deletes, which start now or at a continuation (change-feed-modes)."""

    def __init__(self, request: Request, container: Container) -> None:
        if container.log_retention_s is None:
            raise CosmosError(
                400,
                "The All Versions and Deletes change feed must be enabled: by continuous backup of the account "
                "(--continuous-backup-days), or by a retentionDuration in the container's changeFeedPolicy.",
            )
        if h.IF_NONE_MATCH not in request.headers:
            raise _outside("The All Versions and Deletes change feed can start only now or at a continuation.")
        self._key_names = ["/".join(path) for path in container.definition.partition_key.paths]

    def check(self, one: Slice, after: int) -> None:
        """Raise 400 if the log of the slice does not reach back to the position."""
        start = one.items.log_start()
        if start is None or after < start:
            raise _outside("The continuation is from before it.")

    def next_lsn(self, one: Slice, after: int) -> int | None:
        return one.items.next_logged_lsn(after)

    def read(self, one: Slice, after: int, until: int, limit: int) -> list[LoggedChange]:
        return one.items.logged_changes(one.scope, after, until, limit)

    def shown(self, change: LoggedChange) -> bytes:
        metadata: JsonObject = {
            "operationType": change.operation,
            "lsn": change.lsn,
            "previousImageLSN": change.previous_lsn,
            "crts": change.timestamp,
        }
        if change.operation != "delete":
            return b'{"current":%b,"metadata":%b}' % (change.body, json_text.dump(metadata))
        values = json_text.parse(change.key)
        key = zip(self._key_names, values if isinstance(values, list) else [], strict=True)
        metadata |= {
            "timeToLiveExpired": bool(change.is_expiry),
            "id": change.id,
            "partitionKey": {name: value for name, value in key if value != {}},
        }
        # Only a TTL's deletion has no previous version (azure-cosmos-dotnet-v3, AllVersionsAndDeletes/BuilderTests.cs).
        previous = b"" if change.is_expiry else b'"previous":%b,' % change.body
        return b'{"current":{},%b"metadata":%b}' % (previous, json_text.dump(metadata))


def _outside(reason: str) -> CosmosError:
    """Return the error that azure-sdk-for-js expects, also at the beginning (changeFeedIterator.spec.ts)."""
    return CosmosError(400, f"You must read the change feed from within the retention period. {reason}")


async def _answer(request: Request, container: Container, feed: _Feed[Change]) -> Answer:
    slices = at_replicas(request, slices_of(request, container))
    after = _start(request, slices)
    page = await _page(feed, slices, after, request.page_size)
    headers = {**slices_headers(container, slices), h.ETAG: f'"{_packed(slices, after)}"'}
    if not page:
        # The .NET SDK parses the count even here (ChangeFeedPage of NetworkAttachedDocumentContainer.cs).
        return Answer(304, b"", {h.ITEM_COUNT: "0", **headers}, request.gateway.charges.refusal(304))
    charge_ru = request.gateway.charges.change_feed([len(change.body) for change in page])
    return feed_answer(container.rid, "Documents", [feed.shown(change) for change in page], headers, charge_ru)


async def _page(feed: _Feed[Change], slices: list[Slice], after: list[int], limit: int) -> list[Change]:
    """Read slices until the page is full. Updates `after`, also past LSNs without changes."""
    page: list[Change] = []
    for index, one in enumerate(slices):
        if len(page) >= limit:
            break
        latest = one.lsn
        changes: list[Change] = []
        while not changes and after[index] < latest:
            feed.check(one, after[index])  # each time: during a pause, the log can be trimmed
            following = feed.next_lsn(one, after[index])
            until = latest if following is None else min(following + _WINDOW, latest)
            found = feed.read(one, after[index], until, limit - len(page))
            changes = _within_page_size(found)
            after[index] = changes[-1].lsn if changes else until
            await asyncio.sleep(0)  # many windows in a row can be empty
        page.extend(changes)
    return page


def _within_page_size(changes: list[Change]) -> list[Change]:
    size = 0
    for index, item in enumerate(changes):
        size += len(item.body)
        if size > MAX_PAGE_BYTES and item.lsn > changes[0].lsn:
            return [one for one in changes[:index] if one.lsn < item.lsn]
    return changes


def _start(request: Request, slices: list[Slice]) -> list[int]:
    """Return the LSN after which to read each slice.

    An etag overrides a start time (.NET SDK, GatewayTests.cs).
    """
    etag = request.headers.get(h.IF_NONE_MATCH)
    if etag == _NOW:
        return [one.lsn for one in slices]
    if etag is not None:
        return _unpacked(etag.strip('"'), slices)
    return [0] * len(slices)


def _packed(slices: list[Slice], lsns: list[int]) -> str:
    """Pack the slices' LSNs into one decimal number: an LSN or, of several slices, partitions with their LSNs.

    For a container, azure-cosmos accepts only digits (_change_feed/change_feed_state.py).
    """
    if len(slices) == 1:
        return str(lsns[0])
    packed = 0
    for one, lsn in zip(slices, lsns, strict=True):
        packed = packed << _SLOT_BITS | (one.partition.index + 1) << _LSN_BITS | lsn
    return str(Decimal(packed))  # str(int) has at most 4,300 digits


def _unpacked(etag: str, slices: list[Slice]) -> list[int]:
    """Return each slice's LSN: its own or, after a split, the LSN of the partition that was split."""
    found: dict[str, int] = {}
    packed = int(Decimal(etag)) if etag.isdecimal() and len(etag) <= 30 * len(slices) else -1
    if 0 <= packed < 1 << _LSN_BITS:
        return [packed] * len(slices)
    while packed > 0:
        found[str((packed >> _LSN_BITS & ((1 << _SLOT_BITS - _LSN_BITS) - 1)) - 1)] = packed & (1 << _LSN_BITS) - 1
        packed >>= _SLOT_BITS
    lsns = [next((found[one] for one in each.partition.lineage if one in found), None) for each in slices]
    known = [lsn for lsn in lsns if lsn is not None]
    if len(known) < len(slices):
        raise CosmosError(400, f"The etag {etag!r} is not a position in the change feed of this request.")
    return known


def _seconds(date: str) -> int:
    try:
        sent = parsedate_to_datetime(date)
    except (ValueError, OverflowError) as error:
        raise CosmosError(400, f"The header {h.IF_MODIFIED_SINCE} must be an RFC 1123 date, not {date!r}.") from error
    return int((sent if sent.tzinfo else sent.replace(tzinfo=UTC)).timestamp())
