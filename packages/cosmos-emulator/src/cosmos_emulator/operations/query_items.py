"""POST …/docs with a query."""

from __future__ import annotations

import base64
import time
from asyncio import CancelledError
from collections.abc import Callable, Hashable
from functools import partial
from typing import Final
from urllib.parse import quote

from cosmos_emulator import json_text
from cosmos_emulator.errors import CosmosError
from cosmos_emulator.json_text import JsonObject
from cosmos_emulator.messages import headers as h
from cosmos_emulator.messages.answer import Answer, feed_answer, slices_headers
from cosmos_emulator.messages.request import Request
from cosmos_emulator.messages.routing import slices_of_query
from cosmos_emulator.messages.scope import at_replicas
from cosmos_emulator.pacing import MAX_WORK_S, ON_LOOP, MovesToWorker, Rest, in_worker
from cosmos_emulator.query import QueryFeatures, UdfCaller, features_of
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


async def handle(request: Request) -> Answer:
    """Return a page of rows. Raises 400 for an invalid query, 400/1004 if the client must run it by range."""
    container = request.container
    _check_continuation_limit(request)
    start_s = time.perf_counter()
    text, slices, page = await _page(request, container)
    headers = _headers(request, container, slices, text, page)
    if request.flag(h.POPULATE_QUERY_METRICS):
        time_ms = (time.perf_counter() - start_s) * 1000
        headers[h.QUERY_METRICS] = _metrics(page, time_ms, features_of(text.query))
    headers[h.QUERY_EXECUTION_INFO] = _execution_info(text)
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


async def _page(request: Request, container: Container) -> tuple[QueryText, list[Slice], QueryPage]:
    gateway, continuation = request.gateway, request.headers.get(h.CONTINUATION)
    is_long = len(request.body) > LONG_TEXT_BYTES
    prepared: tuple[QueryText, list[Slice]] | None = None
    resumed: Unfinished | None = None
    rest: Unfinished | None
    try:
        text, slices = prepared = await _prepared(request, container, is_long=is_long)
        if continuation:
            token = decode_continuation(continuation)
            resumed = request.unfinished.take(token.get("query"), _identity(request, container, slices))
            continuation = _page_start(token, continuation)
        if is_long or text.calls_udfs or isinstance(resumed, PageWork) or (resumed is not None and resumed.in_worker):
            raise MovesToWorker
        with ON_LOOP:
            query = _paged(request, container, text)
        if resumed is None and query.reads_much(slices):
            raise MovesToWorker
        limits = PageLimits(request.page_size)
        page, rest = await complete(query.page(slices, continuation, limits, resumed), gateway.loop_turn)
    except MovesToWorker:
        text, slices = prepared or await _prepared(request, container, is_long=True)
        work = resumed
        if not isinstance(work, PageWork):
            begun = work if work is not None and work.in_worker else None
            work = PageWork(partial(_page_in_worker, request, container, text, slices, continuation, begun))
        try:
            found = await gateway.in_worker(work.go_on, reads=True)
        except CancelledError:
            work.close()
            raise
        if found is None:
            token = {"query": work.id, "page": continuation}
            page, rest = QueryPage(continuation=encode_continuation(token)), work
        else:
            page, rest = found
    if rest is not None and not text.calls_udfs and not any(one.snapshot for one in slices):
        request.unfinished.keep(rest, _identity(request, container, slices))
    return text, slices, page


def _identity(request: Request, container: Container, slices: list[Slice]) -> Hashable:
    return container.rid, container.resource.etag, request.body, tuple((one.partition.id, one.scope) for one in slices)


async def _prepared(request: Request, container: Container, *, is_long: bool) -> tuple[QueryText, list[Slice]]:
    def prepare() -> tuple[QueryText, list[Slice]]:
        text = parse_query_body(request.body, container.definition.dialect)
        return text, slices_of_query(request, container, text)

    if is_long:
        container.open()
    text, slices = await request.gateway.run(prepare, is_long=is_long, reads=True)
    return text, at_replicas(request, slices)


def _paged(request: Request, container: Container, text: QueryText, udfs: UdfCaller | None = None) -> PagedQuery:
    gateway = request.gateway
    return PagedQuery(
        text,
        container.definition.indexing,
        gateway.charges,
        udfs,
        lenient_order_by=gateway.settings.lenient_order_by,
        searches=request.unfinished.searches,
        search_indexes=request.unfinished.search_indexes,
        clock=gateway.settings.clock,
    )


def _page_start(token: JsonObject, continuation: str) -> str | None:
    """Return the continuation with which the page began to which a token belongs, if any. Raises 400."""
    start = token.get("page", continuation)
    if start is not None and not isinstance(start, str):
        raise malformed_continuation()
    return start


def _page_in_worker(
    request: Request,
    container: Container,
    text: QueryText,
    slices: list[Slice],
    continuation: str | None,
    begun: UnfinishedQuery | None,
    wait: Callable[[int], None],
) -> tuple[QueryPage, UnfinishedQuery | None]:
    """Run a query that can take seconds in a thread with separate connections.

    `wait` is called, without open connections, with the used memory when the time of a request is up.
    """
    if text.may_search:
        load_libraries()
    slices = separately_read(slices) if begun is None else begun.reading.slices
    running: PagedQuery | UnfinishedQuery | None = begun

    def close_and_wait() -> None:
        close(slices)
        wait(0 if running is None else running.size_bytes)

    with closed_at_end(slices), udf_caller(request.gateway, container, text) as udfs:
        can_rest = udfs is None and not any(one.snapshot for one in slices)
        rest = Rest(paging.MAX_PAGE_S, close_and_wait) if can_rest else None
        # A UDF waits for another process.
        with in_worker(None if udfs else request.gateway.worker_turns, MAX_WORK_S, rest):
            query = _paged(request, container, text, udfs)
            running = begun or query
            limits = PageLimits(request.page_size)
            page, unfinished = complete_at_once(query.page(slices, continuation, limits, begun))
        if unfinished is not None:
            unfinished.in_worker = True
        return page, unfinished


def _headers(
    request: Request, container: Container, slices: list[Slice], text: QueryText, page: QueryPage
) -> dict[str, str]:
    headers = slices_headers(container, slices)
    if page.continuation is not None:
        headers[h.CONTINUATION] = page.continuation
    if request.flag(h.OPTIMISTIC_DIRECT):
        headers[h.REQUIRES_DISTRIBUTION] = str(len(slices) > 1 or _spans_pages(features_of(text.query)))
    if request.flag(h.POPULATE_INDEX_METRICS):
        headers[h.INDEX_UTILIZATION] = _index_utilization(_served_indexes(request, container, text, page))
    elif request.flag(h.POPULATE_INDEX_METRICS_V2):
        headers[h.INDEX_UTILIZATION] = _index_utilization_v2(_served_indexes(request, container, text, page))
    return headers


def _spans_pages(features: QueryFeatures) -> bool:
    """Return whether the client must merge pages, as .NET does without the header.

    Source: OptimisticDirectExecutionQueryTests.cs; for groups and aggregates, the answer of the service is unknown.
    """
    return features.has_distinct or features.has_group_by or features.has_aggregates


def _execution_info(text: QueryText) -> str:
    """Return in which direction items with equal keys are ordered by `_rid` (query/compiler/ordered.py).

    Source: azure-cosmos-dotnet-v3, CosmosQueryExecutionInfo.cs.
    """
    is_reverse = any(item.descending for item in text.query.order_by[:1])
    return json_text.dump({"reverseRidEnabled": False, "reverseIndexScan": is_reverse}).decode()


def _metrics(page: QueryPage, time_ms: float, features: QueryFeatures) -> str:
    """Return the metrics of a page, with the items that the service's indexes would have made it load.

    The utilization is the share of these items that the filter matches. If rows combine or split items, it is not
    modeled and 1, because the Java SDK fails without one (QueryMetrics.java).

    The time is measured, but not its parts. Of these, the smallest is reported where clients expect a time above 0.
    """
    retrieved = 0 if features.counts_items else page.load.items
    hits = min(len(page.rows), retrieved) if features.rows_are_items else retrieved
    counts = {
        "retrievedDocumentCount": retrieved,
        "retrievedDocumentSize": page.load.size_bytes if retrieved else 0,
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


def _served_indexes(request: Request, container: Container, text: QueryText, page: QueryPage) -> list[str]:
    """Return the paths of the used indexes; a partition key uses its own (azure-cosmos test_query.py)."""
    keys = container.definition.partition_key.paths if h.PARTITION_KEY in request.headers else ()
    paths = (*keys, *(one.path for one in page.load.served), *text.selected_paths(container.definition.indexing))
    return [f"/{'/'.join(map(_path_name, path))}/?" for path in dict.fromkeys(paths)]


def _path_name(name: str) -> str:
    return name if name.isidentifier() else json_text.dump(name).decode()
