"""The query plan, with which a client queries several ranges and merges the results.

The fields are azure-cosmos's (query_execution_info.py), the values as in the .NET SDK's QueryPlanBaselineTests.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product

from cosmos_emulator.errors import CosmosError
from cosmos_emulator.query import syntax
from cosmos_emulator.query.analysis import pinned_values, selects_nothing
from cosmos_emulator.query.compiled import compile_query
from cosmos_emulator.query.counts import row_counts
from cosmos_emulator.query.errors import evaluation_error
from cosmos_emulator.query.features import (
    QueryFeatures,
    combining_input,
    distinct_input,
    features_of,
    has_aggregates,
    is_aggregate,
)
from cosmos_emulator.query.printer import print_query, printed
from cosmos_emulator.query.rewriting import rewritten_query
from cosmos_emulator.query.syntax import PLAIN, Dialect, Expression, FunctionCall, Query
from cosmos_emulator.query.values import UNDEFINED, Json, JsonOrUndefined

EffectivePartitionKey = Callable[["list[JsonOrUndefined]"], str]
"""Hashes partition key components (UNDEFINED for an array or object) to the upper-case hex EPK."""

PLAN_VERSION = 2
MAX_POINT_RANGES = 1000
"""With more combinations of pinned values, the plan covers the full range."""

_FULL_RANGE: dict[str, Json] = {"min": "", "max": "FF", "isMinInclusive": True, "isMaxInclusive": False}
_EMPTY_RANGE: dict[str, Json] = {"min": "", "max": "", "isMinInclusive": True, "isMaxInclusive": True}
_AGGREGATE_NAMES = {
    "AVG": "Average",
    "COUNT": "Count",
    "COUNTIF": "CountIf",
    "MAKELIST": "MakeList",
    "MAKESET": "MakeSet",
    "MAX": "Max",
    "MIN": "Min",
    "SUM": "Sum",
}


@dataclass(frozen=True, slots=True)
class PlannedSearch:
    """The plan of an ORDER BY that is a search: of RANK, or of one value, from high to low if `is_descending`."""

    needed_features: Mapping[str, bool]
    hybrid_search_info: dict[str, Json] | None
    is_descending: bool


def query_plan(
    query: Query,
    parameters: Mapping[str, Json],
    partition_key_paths: Sequence[Sequence[str]],
    supported_features: Collection[str] | None,
    effective_partition_key: EffectivePartitionKey,
    *,
    in_one_partition: bool = False,
    dialect: Dialect = PLAIN,
    search: PlannedSearch | None = None,
) -> dict[str, Json]:
    """Return the plan of a query for a container, or for one physical partition of it (`in_one_partition`).

    `partition_key_paths` has the steps of each path, such as `[("postId",)]`. Raises 400 if the query is invalid or
    needs a feature missing from `supported_features` (None: not checked). `search` is for a query whose ORDER BY is a
    search; the clause is not checked here.
    """
    compiled = query if search is None else replace(query, order_by=(), rank=False)
    compile_query(compiled, parameters, _never_called, dialect=dialect)
    counted = distinct_input(query)
    features = features_of(counted or query)
    if supported_features is not None:
        more = {} if search is None else search.needed_features
        _check_supported(counted or query, features, supported_features, more, counts_distinct=counted is not None)
    ranges = query_ranges(query, parameters, partition_key_paths, effective_partition_key)
    plan: dict[str, Json] = {"partitionedQueryExecutionInfoVersion": PLAN_VERSION, "queryRanges": [*ranges]}
    is_pinned = len(ranges) == 1 and ranges[0]["min"] == ranges[0]["max"]
    if features.reads_combined_rows and not in_one_partition and not is_pinned:
        raise combined_across_partitions()
    if search is not None and search.hybrid_search_info is not None:
        return {**plan, "hybridSearchQueryInfo": search.hybrid_search_info}
    info = _query_info(counted or query, parameters, features, is_pinned)
    if counted is not None:
        info |= _count_of_rows(query, counted)
    if search is not None:
        info |= {"orderBy": ["Descending" if search.is_descending else "Ascending"], "hasNonStreamingOrderBy": True}
    return {**plan, "queryInfo": info}


def combined_across_partitions() -> CosmosError:
    """Return the error for a query whose groups would have to be merged before the rest of the query runs.

    People wrap GROUP BY in FROM because azure-cosmos then sends it (azure-cosmos-mcp-server-samples#22). Each physical
    partition makes groups of its own, which no SDK merges (azure-cosmos-dotnet-v3#1815, #2133). Such rows would be
    wrong without an error.
    """
    return evaluation_error(
        "A subquery in FROM with GROUP BY, DISTINCT or an aggregate makes rows of its own in each physical partition, "
        "and this query reads several. Specify the partition key, or use the clause in the outer query."
    )


def _never_called(name: str, _arguments: list[JsonOrUndefined]) -> JsonOrUndefined:
    raise TypeError(f"udf.{name} is not called while a query is planned")


def _query_info(
    query: Query, parameters: Mapping[str, Json], features: QueryFeatures, is_pinned: bool
) -> dict[str, Json]:
    counts = row_counts(query, parameters)
    is_whole = is_pinned and features.has_aggregates and not features.has_group_by
    skips_itself = is_pinned and not features.has_group_by and not query.distinct and not query.order_by
    is_ordered = bool(query.order_by) and not features.has_aggregates
    return {
        "distinctType": _distinct_type(query),
        "top": counts.top,
        "offset": None if skips_itself else counts.offset,
        "limit": None if skips_itself else counts.limit,
        "orderBy": _directions(query) if is_ordered else [],
        "orderByExpressions": [printed(item.expression) for item in query.order_by] if is_ordered else [],
        "groupByExpressions": [printed(key) for key in query.group_by],
        "groupByAliases": [] if is_whole else [*_aliases(query)],
        "aggregates": [] if is_whole else _value_aggregates(query),
        "groupByAliasToAggregateType": {} if is_whole else {**_aliases(query)},
        "rewrittenQuery": rewritten_query(query, counts, is_pinned=is_pinned),
        "hasSelectValue": features.is_select_value,
        "dCountInfo": None,
        "hasNonStreamingOrderBy": False,
    }


def _count_of_rows(query: Query, counted: Query) -> dict[str, Json]:
    """Return what tells the client to count the distinct rows (DCountInfo.cs): `SELECT VALUE` has no alias."""
    names = [name for name, _ in query.select.named()] if isinstance(query.select, syntax.SelectList) else [""]
    return {
        "rewrittenQuery": print_query(counted),
        "hasSelectValue": isinstance(query.select, syntax.SelectValue),
        "dCountInfo": {"dCountAlias": names[0]},
    }


def _directions(query: Query) -> list[Json]:
    return ["Descending" if item.descending else "Ascending" for item in query.order_by]


def _distinct_type(query: Query) -> str:
    """Return Ordered if equal rows are adjacent: `SELECT DISTINCT VALUE` of exactly the value of ORDER BY."""
    if not query.distinct:
        return "None"
    match query:
        case Query(select=syntax.SelectValue(expression=value), order_by=(item,)) if value == item.expression:
            return "Ordered"
    return "Unordered"


def _value_aggregates(query: Query) -> list[Json]:
    select = query.select
    name = _aggregate_name(select.expression) if isinstance(select, syntax.SelectValue) else None
    return [] if name is None else [name]


def _aliases(query: Query) -> dict[str, str | None]:
    """Return a grouped row's properties, each with its aggregate or None."""
    select = query.select
    if not isinstance(select, syntax.SelectList) or not (query.group_by or has_aggregates(query)):
        return {}
    return {name: _aggregate_name(item.expression) for name, item in select.named()}


def _aggregate_name(node: Expression) -> str | None:
    return _AGGREGATE_NAMES[node.name] if isinstance(node, FunctionCall) and is_aggregate(node) else None


def _check_supported(
    query: Query,
    features: QueryFeatures,
    supported: Collection[str],
    more: Mapping[str, bool],
    *,
    counts_distinct: bool,
) -> None:
    calls = [name for name in (*_aliases(query).values(), *_value_aggregates(query)) if name is not None]
    # QueryFeatures.cs of the .NET SDK.
    needed = {
        "Aggregate": features.has_aggregates,
        "CountIf": "CountIf" in calls,
        "DCount": counts_distinct,
        "Distinct": features.has_distinct,
        "GroupBy": features.has_group_by,
        "ListAndSetAggregate": "MakeList" in calls or "MakeSet" in calls,
        "MultipleAggregates": len(calls) > 1,
        "MultipleOrderBy": len(query.order_by) > 1,
        "NonValueAggregate": features.has_aggregates and not features.is_select_value,
        "OffsetAndLimit": features.has_offset_limit,
        "OrderBy": features.has_order_by,
        "Top": features.has_top,
        **more,
    }
    missing = [name for name, is_needed in needed.items() if is_needed and name not in supported]
    if missing:
        # Sorted and worded as by the service: AzureCosmosDB/azure-cosmos-mcp-server-samples#22.
        raise evaluation_error(
            f"Query contains the following features, which the calling client does not support: {' '.join(missing)}"
        )


# Ranges


def query_ranges(
    query: Query,
    parameters: Mapping[str, Json],
    partition_key_paths: Sequence[Sequence[str]],
    effective_partition_key: EffectivePartitionKey,
) -> list[dict[str, Json]]:
    """Return the EPK ranges of all matches: points if keys are pinned, one empty range if nothing matches."""
    while (rows := combining_input(query)) is not None:
        query = rows
    if not query.sources:
        return [_EMPTY_RANGE]
    pinned = [pinned_values(query, parameters, tuple(path)) for path in partition_key_paths]
    if selects_nothing(query, parameters) or any(values == [] for values in pinned):
        return [_EMPTY_RANGE]
    prefix: list[list[Json]] = []
    for values in pinned:
        if values is None:
            break
        prefix.append(values)
    keys = list(product(*prefix))
    if not prefix or len(keys) > MAX_POINT_RANGES:
        return [_FULL_RANGE]
    epks = {effective_partition_key([*map(_component, key)]) for key in keys}
    complete = len(prefix) == len(partition_key_paths)
    return [_point(epk) if complete else _below(epk) for epk in sorted(epks)]


def _component(value: Json) -> JsonOrUndefined:
    return UNDEFINED if type(value) is list or type(value) is dict else value


def _point(epk: str) -> dict[str, Json]:
    return {"min": epk, "max": epk, "isMinInclusive": True, "isMaxInclusive": True}


def _below(epk: str) -> dict[str, Json]:
    return {"min": epk, "max": f"{epk}FF", "isMinInclusive": True, "isMaxInclusive": True}
