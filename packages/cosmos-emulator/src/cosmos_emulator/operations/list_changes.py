"""GET …/docs with `A-IM: Incremental Feed`: the change feed in latest version mode.

Sources: learn.microsoft.com/azure/cosmos-db/change-feed-modes; azure-cosmos _change_feed.
"""

from __future__ import annotations

import asyncio
from datetime import UTC
from email.utils import parsedate_to_datetime
from typing import Final

from cosmos_emulator.errors import CosmosError
from cosmos_emulator.http import headers as h
from cosmos_emulator.http.messages import Answer, Request, feed_answer
from cosmos_emulator.reads.paging import MAX_PAGE_BYTES
from cosmos_emulator.reads.slices import Slice, at_replicas, slices_headers, slices_of
from cosmos_emulator.store.items import StoredItem

_MODE: Final = "incremental feed"
_NOW: Final = "*"
_LSN_BITS: Final = 64
_WINDOW: Final = 4000  # LSNs per read


async def handle(request: Request) -> Answer:
    """Return latest versions in LSN order, or 304. The etag is the start of the next page."""
    if request.headers[h.A_IM].lower() != _MODE:
        raise CosmosError(
            400, f"The change feed mode {request.headers[h.A_IM]!r} is not supported; use 'Incremental Feed'."
        )
    container = request.container
    slices = at_replicas(request, slices_of(request, container))
    after, since_s = _start(request, slices)
    page = await _page(slices, after, since_s, request.page_size)
    headers = {**slices_headers(container, slices), h.ETAG: f'"{_packed(after)}"'}
    if not page:
        return Answer(304, b"", headers, request.gateway.charges.refusal(304))
    charge_ru = request.gateway.charges.change_feed([len(item.body) for item in page])
    return feed_answer(container.rid, "Documents", [_with_lsn(item) for item in page], headers, charge_ru)


async def _page(slices: list[Slice], after: list[int], since_s: int, limit: int) -> list[StoredItem]:
    """Read slices until the page is full. Updates `after`, also past ranges without changes."""
    page: list[StoredItem] = []
    for index, one in enumerate(slices):
        if len(page) >= limit:
            break
        latest = one.lsn
        changes: list[StoredItem] = []
        while not changes and after[index] < latest:
            following = one.items.next_lsn(after[index])
            until = latest if following is None else min(following + _WINDOW, latest)
            found = one.items.changes(one.scope, after[index], until, since_s, limit - len(page))
            changes = _within_page_size(found)
            after[index] = changes[-1].lsn if changes else until
            await asyncio.sleep(0)  # many windows in a row can be empty
        page.extend(changes)
    return page


def _within_page_size(changes: list[StoredItem]) -> list[StoredItem]:
    size = 0
    for index, item in enumerate(changes):
        size += len(item.body)
        if size > MAX_PAGE_BYTES and item.lsn > changes[0].lsn:
            return [one for one in changes[:index] if one.lsn < item.lsn]
    return changes


def _start(request: Request, slices: list[Slice]) -> tuple[list[int], int]:
    """Return the LSN after which to read each slice, and the time after which items were written.

    An etag overrides a start time (.NET SDK, GatewayTests.cs).
    """
    etag = request.headers.get(h.IF_NONE_MATCH)
    if etag == _NOW:
        return [one.lsn for one in slices], -1
    if etag is not None:
        return _unpacked(etag.strip('"'), len(slices)), -1
    since = request.headers.get(h.IF_MODIFIED_SINCE)
    return [0] * len(slices), -1 if since is None else _seconds(since)


def _packed(lsns: list[int]) -> str:
    """Pack the slices' LSNs into one decimal number.

    For a container, azure-cosmos accepts only digits (_change_feed/change_feed_state.py).
    """
    packed = 0
    for lsn in reversed(lsns):
        packed = packed << _LSN_BITS | lsn
    return str(packed)


def _unpacked(etag: str, count: int) -> list[int]:
    if not etag.isdecimal() or len(etag) > 20 * count:
        raise CosmosError(400, f"The etag {etag!r} is not a position in the change feed of this request.")
    packed, mask = int(etag), (1 << _LSN_BITS) - 1
    return [packed >> _LSN_BITS * index & mask for index in range(count)]


def _seconds(date: str) -> int:
    try:
        sent = parsedate_to_datetime(date)
    except ValueError as error:
        raise CosmosError(400, f"The header {h.IF_MODIFIED_SINCE} must be an RFC 1123 date, not {date!r}.") from error
    return int((sent if sent.tzinfo else sent.replace(tzinfo=UTC)).timestamp())


def _with_lsn(item: StoredItem) -> bytes:
    return b'%b,"_lsn":%d}' % (item.body[:-1], item.lsn)
