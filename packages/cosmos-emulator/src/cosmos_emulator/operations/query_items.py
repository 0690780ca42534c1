"""POST …/docs with a query."""

from __future__ import annotations

import base64
import time
from asyncio import CancelledError
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from functools import partial
from typing import Final
from urllib.parse import quote

from cosmos_emulator import json_text
from cosmos_emulator.errors import CosmosError
from cosmos_emulator.json_text import JsonObject
from cosmos_emulator.messages import headers as h
from cosmos_emulator.messages.answer import Answer, feed_answer, slices_headers
from cosmos_emulator.messages.request import Request
from cosmos_emulator.messages.scope import at_replicas, slices_of_query
from cosmos_emulator.query import Query, QueryFeatures, UdfCaller, counts_items, rows_are_items
from cosmos_emulator.reads import paging
from cosmos_emulator.reads.execution import PagedQuery
from cosmos_emulator.reads.page_work import PageWork
from cosmos_emulator.reads.paging import (
    PageLimits,
    complete,
    complete_at_once,
    decode_continuation,
    encode_continuation,
    malformed_continuation,
)
from cosmos_emulator.reads.query_text import LONG_TEXT_BYTES, QueryText, parse_query_body
from cosmos_emulator.reads.result_page import QueryPage
from cosmos_emulator.reads.slices import Slice, close, closed_at_end, separately_read
from cosmos_emulator.reads.udfs import udf_caller
from cosmos_emulator.reads.unfinished import Unfinished, UnfinishedQuery
from cosmos_emulator.runtime.pacing import MAX_WORK_S, ON_LOOP, MovesToWorker, Rest, in_worker
from cosmos_emulator.search.functions import load_libraries
from cosmos_emulator.store.account import Container

_LEAST_MS: Final = 0.01
# Expected by clients (@azure/cosmos queryMetricsConstants.js) but not measured.
_UNMEASURED: Final = (
    "queryLogicalPlanBuildTimeInMs",
    "queryPhysicalPlanBuildTimeInMs",
    "queryOptimizationTimeInMs",
    "indexLookupTimeInMs",
    "writeOutputTimeInMs",
    "systemFunctionExecuteTimeInMs",
    "userFunctionExecuteTimeInMs",
)
# By whether items with equal keys are in reverse order of `_rid` (query/compiler/ordered.py). Source:
# azure-cosmos-dotnet-v3, CosmosQueryExecutionInfo.cs.
_EXECUTION_INFO: Final = {
    is_reverse: json_text.dump({"reverseRidEnabled": False, "reverseIndexScan": is_reverse}).decode()
    for is_reverse in (False, True)
}


@dataclass(slots=True)
class _Asked:
    """A request for a page, which begins at a token; `resumed` is what an earlier page left, if it was kept."""

    request: Request
    container: Container
    text: QueryText
    slices: list[Slice]
    start: JsonObject = field(default_factory=dict)
    resumed: Unfinished | None = None

    @property
    def can_be_kept(self) -> bool:
        """Whether the rest of the query can be kept, or its work can rest, until the request for the next page."""
        return not self.text.calls_udfs and not any(one.snapshot for one in self.slices)

    @property
    def identity(self) -> Hashable:
        """What is the same in all requests for pages of a query."""
        parts = tuple((one.partition.id, one.scope) for one in self.slices)
        return self.container.rid, self.container.resource.etag, self.request.body, parts

    def query(self, udfs: UdfCaller | None = None) -> PagedQuery:
        """Return the compiled query. Raises 400."""
        gateway, unfinished = self.request.gateway, self.request.unfinished
        return PagedQuery(
            self.text,
            self.container.definition.indexing,
            gateway.charges,
            udfs,
            lenient_order_by=gateway.settings.lenient_order_by,
            lookups=unfinished.lookups,
            search_indexes=unfinished.search_indexes,
            clock=gateway.settings.clock,
        )


async def handle(request: Request) -> Answer:
    """Return a page of rows. Raises 400 for an invalid query, 400/1004 if the client must run it by range."""
    container = request.container
    _check_continuation_limit(request)
    start_s = time.perf_counter()
    asked = await _asked(request, container)
    try:
        page, rest = await _on_loop(asked)
    except MovesToWorker:
        page, rest = await _in_thread(asked)
    if rest is not None and asked.can_be_kept:
        request.unfinished.keep(rest, asked.identity)
    headers = _headers(asked, page)
    if request.flag(h.POPULATE_QUERY_METRICS):
        headers[h.QUERY_METRICS] = _metrics(page, (time.perf_counter() - start_s) * 1000, asked.text.query)
    return feed_answer(container.rid, "Documents", page.rows, headers, page.charge_ru)


def _check_continuation_limit(request: Request) -> None:
    """Raise 400 for a limit that no continuation token can keep. Ours are small, so others have no effect.

    Source: azure-cosmos-dotnet-v3, QueryTests.cs, TestContinuationLimitHeaders.
    """
    limit = request.headers.get(h.RESPONSE_CONTINUATION_LIMIT, "1")
    if limit == "0":
        raise CosmosError(400, "The continuation token limit specified is not large enough.")
    if not limit.isdecimal():
        raise CosmosError(400, "Please pass in a valid continuation token size limit which must be a positive integer.")


async def _asked(request: Request, container: Container) -> _Asked:
    def parse() -> tuple[QueryText, list[Slice]]:
        text = parse_query_body(request.body, container.definition.dialect)
        return text, slices_of_query(request, container, text)

    try:
        if len(request.body) > LONG_TEXT_BYTES:
            raise MovesToWorker
        with ON_LOOP:
            text, slices = parse()
    except MovesToWorker:
        container.open()
        text, slices = await request.gateway.run(parse, is_long=True, reads=True)
    asked = _Asked(request, container, text, at_replicas(request, slices))
    if h.CONTINUATION in request.headers:
        token = decode_continuation(request.headers[h.CONTINUATION])
        asked.resumed = request.unfinished.take(token.get("query"), asked.identity)
        asked.start = _page_start(token)
    return asked


async def _on_loop(asked: _Asked) -> tuple[QueryPage, Unfinished | None]:
    """Read the page on the event loop. Raises MovesToWorker if it takes long, and for what only a thread can read."""
    request, resumed = asked.request, asked.resumed
    is_long = len(request.body) > LONG_TEXT_BYTES or asked.text.calls_udfs
    if is_long or isinstance(resumed, PageWork) or (resumed is not None and resumed.in_worker):
        raise MovesToWorker
    with ON_LOOP:
        query = asked.query()
    if resumed is None and query.reads_much(asked.slices):
        raise MovesToWorker
    steps = query.page(asked.slices, asked.start, PageLimits(request.page_size), resumed)
    return await complete(steps, request.gateway.loop_turn)


async def _in_thread(asked: _Asked) -> tuple[QueryPage, Unfinished | None]:
    """Read the page in a thread, or the part of it that is done when the time of a request is up."""
    work = asked.resumed if isinstance(asked.resumed, PageWork) else PageWork(partial(_whole_page, asked))
    try:
        found = await asked.request.gateway.in_worker(work.go_on, reads=True)
    except CancelledError:
        work.close()
        raise
    if found is None:  # the thread rests
        return QueryPage(continuation=encode_continuation({"query": work.id, "page": asked.start})), work
    return found


def _page_start(token: JsonObject) -> JsonObject:
    """Return the token with which the page began to which a token belongs. Raises 400."""
    start = token.get("page", token)
    if not isinstance(start, dict):
        raise malformed_continuation()
    return start


def _whole_page(asked: _Asked, wait: Callable[[int], None]) -> tuple[QueryPage, UnfinishedQuery | None]:
    """Run a query that can take seconds in a thread with separate connections.

    `wait` is called, without open connections, with the used memory when the time of a request is up.
    """
    request, resumed = asked.request, asked.resumed
    begun = resumed if isinstance(resumed, UnfinishedQuery) and resumed.in_worker else None
    if asked.text.may_search:
        load_libraries()
    slices = separately_read(asked.slices) if begun is None else begun.reading.slices
    running: PagedQuery | UnfinishedQuery | None = begun

    def close_and_wait() -> None:
        close(slices)
        wait(0 if running is None else running.size_bytes)

    with closed_at_end(slices), udf_caller(request.gateway, asked.container, asked.text) as udfs:
        rest = Rest(paging.MAX_PAGE_S, close_and_wait) if asked.can_be_kept else None
        # A UDF waits for another process.
        with in_worker(None if udfs else request.gateway.worker_turns, MAX_WORK_S, rest):
            query = asked.query(udfs)
            running = begun or query
            limits = PageLimits(request.page_size)
            page, unfinished = complete_at_once(query.page(slices, asked.start, limits, begun))
        if unfinished is not None:
            unfinished.in_worker = True
        return page, unfinished


def _headers(asked: _Asked, page: QueryPage) -> dict[str, str]:
    request, text = asked.request, asked.text
    headers = slices_headers(asked.container, asked.slices)
    headers[h.QUERY_EXECUTION_INFO] = _EXECUTION_INFO[any(item.descending for item in text.query.order_by[:1])]
    if page.continuation is not None:
        headers[h.CONTINUATION] = page.continuation
    if request.flag(h.OPTIMISTIC_DIRECT):
        headers[h.REQUIRES_DISTRIBUTION] = str(len(asked.slices) > 1 or _spans_pages(text.features))
    if request.flag(h.POPULATE_INDEX_METRICS):
        headers[h.INDEX_UTILIZATION] = _index_utilization(_served_indexes(asked, page))
    elif request.flag(h.POPULATE_INDEX_METRICS_V2):
        headers[h.INDEX_UTILIZATION] = _index_utilization_v2(_served_indexes(asked, page))
    return headers


def _spans_pages(features: QueryFeatures) -> bool:
    """Return whether the client must merge pages, as .NET does without the header.

    Source: OptimisticDirectExecutionQueryTests.cs; for groups and aggregates, the answer of the service is unknown.
    """
    return features.has_distinct or features.has_group_by or features.has_aggregates


def _metrics(page: QueryPage, time_ms: float, query: Query) -> str:
    """Return the metrics of a page, with the items that the service's indexes would have made it load.

    The utilization is the share of these items that the filter matches. If rows combine or split items, it is not
    modeled and 1, because the Java SDK fails without one (QueryMetrics.java).

    The time is measured, but not its parts. Of these, the smallest is reported where clients expect a time above 0.
    """
    retrieved = 0 if counts_items(query) else page.loaded
    hits = min(len(page.rows), retrieved) if rows_are_items(query) else retrieved
    counts = {
        "retrievedDocumentCount": retrieved,
        "retrievedDocumentSize": page.loaded_bytes if retrieved else 0,
        "outputDocumentCount": len(page.rows),
        "outputDocumentSize": sum(map(len, page.rows)),
        "indexHitDocumentCount": hits,
    }
    ratio = f"indexUtilizationRatio={hits / retrieved if retrieved else 1:.2f}"
    total_ms = max(time_ms, 3 * _LEAST_MS)
    measured = {
        "totalExecutionTimeInMs": total_ms,
        "queryCompileTimeInMs": _LEAST_MS,
        "documentLoadTimeInMs": _LEAST_MS if retrieved else 0.0,
        "VMExecutionTimeInMs": total_ms - _LEAST_MS,
    }
    times = (f"{name}={ms:.2f}" for name, ms in {**measured, **dict.fromkeys(_UNMEASURED, 0.0)}.items())
    return ";".join([*(f"{name}={count}" for name, count in counts.items()), ratio, *times])


def _index_utilization(indexes: list[str]) -> str:
    """Return the used indexes as base64 JSON (azure-cosmos _utils.py)."""
    single = [
        {
            "FilterExpression": "",
            "IndexSpec": spec,
            "FilterPreciseSet": True,
            "IndexPreciseSet": True,
            "IndexImpactScore": "High",
        }
        for spec in indexes
    ]
    metrics = {
        "UtilizedSingleIndexes": single,
        "PotentialSingleIndexes": [],
        "UtilizedCompositeIndexes": [],
        "PotentialCompositeIndexes": [],
    }
    return base64.b64encode(json_text.dump(metrics)).decode()


def _index_utilization_v2(indexes: list[str]) -> str:
    """Return the used indexes as percent-encoded JSON.

    Sources: @azure/cosmos headerUtils.js; .NET, IndexMetricsParserBaselineTest.cs: only potential ones have a score.
    """
    single = [{"IndexSpec": spec} for spec in indexes]
    metrics = {
        "UtilizedIndexes": {"SingleIndexes": single, "CompositeIndexes": []},
        "PotentialIndexes": {"SingleIndexes": [], "CompositeIndexes": []},
    }
    return quote(json_text.dump(metrics))


def _served_indexes(asked: _Asked, page: QueryPage) -> list[str]:
    """Return the paths of the used indexes; a partition key uses its own (azure-cosmos test_query.py)."""
    definition = asked.container.definition
    keys = definition.partition_key.paths if h.PARTITION_KEY in asked.request.headers else ()
    paths = (*keys, *(one.path for one in page.served), *asked.text.selected_paths(definition.indexing))
    return [f"/{'/'.join(map(_path_name, path))}/?" for path in dict.fromkeys(paths)]


def _path_name(name: str) -> str:
    return name if name.isidentifier() else json_text.dump(name).decode()
