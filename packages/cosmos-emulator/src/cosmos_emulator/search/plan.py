"""The plan of ORDER BY RANK, with which a client runs each score on each range and fuses the ranks.

The forms follow Microsoft's planner (tests/query/test_query_plans.py) and QueryPlanRetrieverTests.cs.
azure-cosmos reads them in _execution_context/hybrid_search_aggregator.py.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Final

from cosmos_emulator.query import Json, PlannedSearch, Query, syntax
from cosmos_emulator.query.counts import MAX_COUNT, RowCounts, row_counts
from cosmos_emulator.query.printer import print_query, printed
from cosmos_emulator.query.rewriting import first_alias, ordered, payload_of
from cosmos_emulator.query.syntax import ArrayLiteral, Expression, FunctionCall, Identifier, Literal, ObjectLiteral
from cosmos_emulator.search.queries import VECTOR_DISTANCE, Component, Order, TextScore, VectorScore

_LEAST_ROWS: Final = 120  # of a score in a range; otherwise twice those that the query skips and takes
_LOWEST: Final = Identifier("-1.7976900000000001e+308")
_HIGHEST: Final = Identifier("1.7976900000000001e+308")
_SKIPS_REWRITE: Final = "HybridSearchSkipOrderByRewrite"
_PLACEHOLDER: Final = "{{documentdb-formattablehybridsearchquery-{}}}"


def _hybrid_search_info(
    query: Query, parameters: Mapping[str, Json], order: Order, supported: Collection[str] | None
) -> dict[str, Json]:
    """Return `hybridSearchQueryInfo` of a plan."""
    counts = row_counts(query, parameters)
    rows = Literal(min(MAX_COUNT, max(_LEAST_ROWS, 2 * (counts.skipped + (counts.taken or 0)))))
    limited = replace(query, rank=False, top=query.top and rows)
    if query.offset is not None:
        limited = replace(limited, offset=Literal(0), limit=rows)
    if isinstance(query.select, syntax.SelectValue):  # otherwise, a row could lack the payload that clients read
        is_defined = FunctionCall("IS_DEFINED", (payload_of(query),))
        where = is_defined if query.where is None else syntax.Logical("AND", (query.where, is_defined))
        limited = replace(limited, where=where)
    texts = list(dict.fromkeys(one.call for one in order.components if isinstance(one.score, TextScore)))
    is_plain = supported is not None and _SKIPS_REWRITE in supported and len(order.components) > 1
    calls = [_planned(component, texts) for component in order.components]
    scores = tuple(_defined(call, one, is_plain) for call, one in zip(calls, order.components, strict=True))
    infos = [
        _component_info(limited, call, one, scores, is_plain, has_statistics=bool(texts))
        for call, one in zip(calls, order.components, strict=True)
    ]
    weights: list[Json] = [abs(one.weight) for one in order.components] if order.is_weighted else []
    return {
        "globalStatisticsQuery": print_query(_statistics_query(query, texts)),
        "componentQueryInfos": [*infos],
        "componentWithoutPayloadQueryInfos": [],
        "projectionQueryInfo": None,
        "componentWeights": weights,
        "skip": counts.offset,
        "take": counts.taken,
        "requiresGlobalStatistics": bool(texts),
        "scoreCombinationKind": "Rrf",
    }


def planned_search(
    query: Query, parameters: Mapping[str, Json], order: Order, supported: Collection[str] | None
) -> PlannedSearch:
    """Return the plan of a query's order. `supported` are the features of the client (QueryFeatures.cs of .NET).

    The values of VectorDistance put the nearest vectors first (QueryPlanBaselineTests.VectorSearch.xml).
    """
    features = {
        "HybridSearch": query.rank,
        "NonStreamingOrderBy": True,
        "WeightedRankFusion": order.is_weighted,
    }
    info = _hybrid_search_info(query, parameters, order, supported) if query.rank else None
    return PlannedSearch(features, info, _is_descending(order))


def _is_descending(order: Order) -> bool:
    """Return whether the values of ORDER BY go from high to low."""
    score = order.components[0].score
    is_distance = isinstance(score, VectorScore) and score.embedding.distance == "euclidean"
    return not (is_distance and order.components[0].call.name == VECTOR_DISTANCE) and order.components[0].weight > 0


def _planned(component: Component, texts: list[FunctionCall]) -> FunctionCall:
    call = component.call
    if isinstance(component.score, VectorScore):
        return FunctionCall("_VECTORSCORE", call.arguments, "_VectorScore")
    path, *phrases = call.arguments
    number = texts.index(call)
    statistics = ("totaldocumentcount", f"totalwordcount-{number}", f"hitcountsarray-{number}")
    placeholders = (Identifier(_PLACEHOLDER.format(name)) for name in statistics)
    return FunctionCall("_FULLTEXTSCORE", (path, ArrayLiteral(tuple(phrases)), *placeholders), "_FullTextScore")


def _defined(call: FunctionCall, component: Component, is_plain: bool) -> Expression:
    """Return a score with a value for items without it, after all others; if `is_plain`, high ones come first."""
    is_reversed = component.weight < 0
    lowest: Expression = Literal(-1) if isinstance(component.score, TextScore) else _LOWEST
    score = syntax.Coalesce(call, _HIGHEST if is_reversed else lowest)
    return syntax.Binary("*", Literal(-1), score) if is_reversed and is_plain else score


def _component_info(
    query: Query,
    call: FunctionCall,
    component: Component,
    scores: tuple[Expression, ...],
    is_plain: bool,
    *,
    has_statistics: bool,
) -> dict[str, Json]:
    is_reversed = component.weight < 0
    direction = "ASC" if is_reversed else "DESC" if isinstance(component.score, TextScore) else ""
    component_scores = ArrayLiteral(scores)
    sorted_query = replace(query, order_by=(syntax.OrderItem(call, not is_reversed, direction),))
    if is_plain:
        rid = syntax.Property(Identifier(first_alias(query)), "_rid")
        items = ((rid, None), (payload_of(query), "payload"), (component_scores, "componentScores"))
        select = syntax.SelectList(tuple(syntax.SelectItem(*item) for item in items))
        sorted_query = replace(sorted_query, select=select, distinct=False)
    else:
        payload = ObjectLiteral((("payload", payload_of(query)), ("componentScores", component_scores)))
        # azure-cosmos replaces the placeholder only together with statistics.
        sorted_query = ordered(sorted_query, payload, resumes=has_statistics)
    counts = RowCounts() if is_plain else row_counts(sorted_query, {})
    return {
        "distinctType": "None",
        "top": counts.top,
        "offset": counts.offset,
        "limit": counts.limit,
        "orderBy": [] if is_plain else ["Ascending" if is_reversed else "Descending"],
        "orderByExpressions": [] if is_plain else [printed(call)],
        "groupByExpressions": [],
        "groupByAliases": [],
        "aggregates": [],
        "groupByAliasToAggregateType": {},
        "rewrittenQuery": print_query(sorted_query),
        "hasSelectValue": False,
        "dCountInfo": None,
        "hasNonStreamingOrderBy": not is_plain,
    }


def _statistics_query(query: Query, texts: list[FunctionCall]) -> Query:
    """`SELECT COUNT(1) AS documentCount, [{"totalWordCount": …, "hitCounts": […]}] AS fullTextStatistics FROM c`."""
    return Query(
        syntax.SelectList(
            (
                syntax.SelectItem(FunctionCall("COUNT", (Literal(1),)), "documentCount"),
                syntax.SelectItem(ArrayLiteral(tuple(map(_counts, texts))), "fullTextStatistics"),
            )
        ),
        sources=query.sources,
    )


def _counts(call: FunctionCall) -> Expression:
    path, *phrases = call.arguments
    words = FunctionCall("SUM", (FunctionCall("_FULLTEXTWORDCOUNT", (path,), "_FullTextWordCount"),))
    hits = (
        FunctionCall("COUNTIF", (FunctionCall("FULLTEXTCONTAINS", (path, phrase), "FullTextContains"),))
        for phrase in phrases
    )
    return ObjectLiteral((("totalWordCount", words), ("hitCounts", ArrayLiteral(tuple(hits)))))
