"""One page of a query over slices of a container.

A query that handles each item independently resumes after an item. A query with a plain ORDER BY resumes after a
position in that order. Every other query is kept between its pages (unfinished.py).
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable
from dataclasses import replace
from typing import Final

from cosmos_emulator import json_text
from cosmos_emulator.charges import ChargeModel
from cosmos_emulator.errors import CosmosError
from cosmos_emulator.indexing_policy import IndexingPolicy
from cosmos_emulator.json_text import JsonObject
from cosmos_emulator.query import UNDEFINED, CompiledQuery, ItemRows, Json, UdfCaller
from cosmos_emulator.reads.entry_access import LONG_SCAN, IndexAccess
from cosmos_emulator.reads.entry_lookup import KeptLookups
from cosmos_emulator.reads.order_by import OrderedPage
from cosmos_emulator.reads.paging import (
    STEP,
    ItemPosition,
    PageLimits,
    Steps,
    encode_continuation,
    has_token_at_end,
    malformed_continuation,
)
from cosmos_emulator.reads.passed_entries import PassedEntries
from cosmos_emulator.reads.query_text import QueryText
from cosmos_emulator.reads.result_page import QueryPage, Reading
from cosmos_emulator.reads.searching import KeptSearchIndexes, Searcher
from cosmos_emulator.reads.slices import Slice
from cosmos_emulator.reads.unfinished import UnfinishedQuery
from cosmos_emulator.runtime.pacing import OutOfTime, lower_deadline
from cosmos_emulator.store.items import Clock, IndexDropped, StoredItem

_POOR_SHARE: Final = 0.25  # of scanned items; if no more match, an index is requested


class PagedQuery:
    """A query bound to a container's policy; `page` can be called any number of times."""

    def __init__(
        self,
        text: QueryText,
        policy: IndexingPolicy,
        charges: ChargeModel,
        udfs: UdfCaller | None = None,
        *,
        lenient_order_by: bool = False,
        lookups: KeptLookups | None = None,
        search_indexes: KeptSearchIndexes | None = None,
        clock: Clock = time.time,
    ) -> None:
        self._compiled: CompiledQuery = text.compile(udfs, clock)
        self._searcher = None if text.search is None else Searcher(text.search, search_indexes)
        self._served = text.served_predicates(policy)
        features = self._compiled.features
        self._order_served = features.has_order_by and text.order_is_served(policy)
        can_walk = self._order_served and self._compiled.is_ordered and not text.order_is_computed
        self._access = IndexAccess(self._served, (text.order() or ()) if can_walk else (), lookups)
        self._filtered = text.query.where is not None
        self._charges = charges
        # The order of its rows does not change an aggregate.
        is_ordered = features.has_order_by and (features.has_group_by or not features.has_aggregates)
        if is_ordered and not self._order_served and not lenient_order_by:
            raise _unserved_order(text)

    @property
    def size_bytes(self) -> int:
        """About how much memory the rows and groups of the latest page use."""
        return self._compiled.kept_bytes

    def reads_much(self, slices: list[Slice]) -> bool:
        """Return whether the query could block the event loop and needs a worker thread."""
        if self._searcher is not None:
            return True
        if self._compiled.is_streaming or self._compiled.is_ordered:
            return False
        return sum(one.items.count_up_to(one.scope, LONG_SCAN) for one in slices) >= LONG_SCAN

    def page(
        self, slices: list[Slice], token: JsonObject, limits: PageLimits, resumed: UnfinishedQuery | None = None
    ) -> Steps[tuple[QueryPage, UnfinishedQuery | None]]:
        """Return the next page, and the rest of a query that can be resumed. Raises 400 for another's token."""
        matches = self._compiled.matcher() if self._filtered and self._searcher is not None else None
        page = QueryPage(self._served)
        reading = Reading(page, slices, token, replace(limits), self._access, self._searcher, matches)
        try:
            rest = yield from self._fill(reading, resumed)
        except IndexDropped:
            page = QueryPage(self._served)
            reading = replace(reading, page=page, limits=limits, access=None)
            rest = yield from self._fill(reading, None)
        self._want_indexes(page)
        page.charge_ru = self._charge(page, len(slices))
        return page, rest

    def _fill(self, reading: Reading, resumed: UnfinishedQuery | None) -> Steps[UnfinishedQuery | None]:
        page, searcher = reading.page, self._searcher
        if searcher is not None and (row := searcher.statistics(reading.slices)) is not None:
            page.rows.append(row)
            return None
        is_searched = searcher is not None and searcher.is_ordered
        if self._compiled.is_streaming and not is_searched:
            yield from self._stream(reading)
            return None
        if self._compiled.is_ordered and not is_searched:
            yield from self._order(reading)
            return None
        return self._run(reading, resumed or UnfinishedQuery(self._compiled, reading))

    def _stream(self, reading: Reading) -> Steps[None]:
        page, limits, compiled = reading.page, reading.limits, self._compiled
        lower_deadline(limits.deadline)
        single_row = None if compiled.joins else compiled.single_row()
        start = ItemPosition.of_json(reading.token)
        cut_item, cut = _cut(reading.token, compiled.joins)
        done: tuple[Slice, StoredItem] | None = None  # the last completed item
        joined: ItemRows | None
        for one, chunk in reading.chunks(start):
            for item in chunk:
                if limits.is_full:
                    page.continuation = _streaming_token(_position(done, start))
                    return
                joined = None
                try:
                    document = page.load(item)
                    rows: Iterable[Json]
                    if document is None:
                        rows = ()
                    elif single_row is not None:
                        row = single_row(document)
                        rows = () if row is UNDEFINED else (row,)
                    else:
                        rows = joined = compiled.rows(document, cut if item.number == cut_item else ())
                    for row in rows:
                        text = json_text.dump(row)
                        if not limits.admit(len(text)):
                            page.continuation = _streaming_token(_position(done, start), item, joined)
                            return
                        page.rows.append(text)
                except OutOfTime:
                    token = _streaming_token(_position(done, start), item, joined)
                    if token == encode_continuation(reading.token or {"start": True}):
                        raise
                    page.continuation = token
                    return
                done = one, item
                if page.scanned % STEP == 0:
                    yield
                    if limits.is_late:
                        page.continuation = _streaming_token(_position(done, start))
                        return
            yield
        if limits.is_full and not self._filtered and not compiled.joins and has_token_at_end(reading.slices):
            page.continuation = _streaming_token(_position(done, start))

    def _order(self, reading: Reading) -> Steps[None]:
        page, ordered = reading.page, OrderedPage(self._compiled, reading)
        yield from ordered.fill()
        if self._order_served:
            page.passed_entries = yield from ordered.passed_over(PassedEntries(self._served, self._access.order))
            if page.loaded == ordered.matched:
                page.reduce_load(len(page.rows) + (0 if reading.token else self._compiled.counts.skipped))

    def _run(self, reading: Reading, query: UnfinishedQuery) -> UnfinishedQuery | None:
        if not query.fill(reading.page, reading.limits):
            return None
        reading.page.continuation = encode_continuation({**reading.counted(query.given), "query": query.id})
        return query

    def _want_indexes(self, page: QueryPage) -> None:
        # After a long scan with few matches, request the index that would have avoided it.
        if page.scanned >= LONG_SCAN and page.loaded <= page.scanned * _POOR_SHARE:
            for one in page.scans:
                self._access.want(one)

    def _charge(self, page: QueryPage, partitions: int) -> float:
        features = self._compiled.features
        # An index computes the aggregate if there is no filter or if it serves the filter.
        answered = not self._filtered or bool(self._served)
        return self._charges.query(
            partitions,
            page.loaded,
            page.loaded_bytes,
            passed_entries=page.passed_entries,
            filtered=self._filtered,
            aggregate=features.has_aggregates and not features.has_group_by and answered,
        )


def _unserved_order(text: QueryText) -> CosmosError:
    """Return the service's error (imranmomin/Hangfire.AzureCosmosDb#51, loopbackio/loopback-next#10637)."""
    match text.order():
        case None if text.calls_udfs:
            message = "Unsupported ORDER BY clause. ORDER BY item expression could not be mapped to a document path."
        case None:  # azure-cosmos-dotnet-v3, OrderByQueryTests.cs
            message = "Order-by over correlated collections is not supported."
        case [_]:
            message = "The index path corresponding to the specified order-by item is excluded."
        case _:
            message = "The order by query does not have a corresponding composite index that it can be served from."
    return CosmosError(400, message)


def _cut(token: JsonObject, joins: int) -> tuple[int | None, list[int]]:
    """Return the number of the item with rows on two pages, and the position of its first row on this page."""
    match token.get("cut"):
        case {"number": int() as number, "at": [*position]} if len(position) == joins:
            at = [index for index in position if type(index) is int and 0 <= index <= sys.maxsize]
            if len(at) == joins:
                return number, at
        case None:
            return None, []
    raise malformed_continuation()


def _position(done: tuple[Slice, StoredItem] | None, start: ItemPosition | None) -> ItemPosition | None:
    return start if done is None else ItemPosition.after_item(*done, start)


def _streaming_token(
    position: ItemPosition | None, item: StoredItem | None = None, rows: ItemRows | None = None
) -> str:
    token: JsonObject = {} if position is None else position.as_json()
    if item is not None and rows is not None and rows.position:
        token["cut"] = {"number": item.number, "at": rows.position}
    return encode_continuation(token or {"start": True})
