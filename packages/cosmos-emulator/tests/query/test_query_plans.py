"""Every query of vectors/query-plans.jsonl.gz has the plan, or the errors, of Microsoft's query planner.

Recorded from the planner in the .NET package Microsoft.Azure.Cosmos 3.64.0 (ServiceInterop), without members that are
empty. Queries that differ are in vectors/query-plan-exceptions.json, by reason.
"""

from __future__ import annotations

import gzip
import json
import re
from functools import cache
from pathlib import Path
from typing import Any

from cosmos_emulator.errors import CosmosError
from cosmos_emulator.partitioning.partition_keys import PartitionKeyDefinition
from cosmos_emulator.query import Dialect
from cosmos_emulator.query.errors import QueryError
from cosmos_emulator.reads.query_text import parse_query
from cosmos_emulator.search.functions import SearchFunctions
from cosmos_emulator.search.policies import SearchPolicies

VECTORS = Path(__file__).parent.parent / "vectors"
# All of QueryFeatures.cs.
FEATURES = {
    *("Aggregate", "CompositeAggregate", "CountIf", "DCount", "Distinct", "GroupBy", "HybridSearch"),
    *("HybridSearchSkipOrderByRewrite", "ListAndSetAggregate", "MultipleAggregates", "MultipleOrderBy"),
    *("NonStreamingOrderBy", "NonValueAggregate", "OffsetAndLimit", "OrderBy", "Top", "WeightedRankFusion"),
}
FILTER = "{documentdb-formattableorderbyquery-filter}"
PLACEHOLDER = r"\{documentdb-formattablehybridsearchquery-\S+?\}"
PHRASES_TO_HITS = re.compile(rf'(\["[^]]*\])(, {PLACEHOLDER}, {PLACEHOLDER}), {PLACEHOLDER}')
DIALECT = Dialect(functions=SearchFunctions(SearchPolicies()))


def trimmed(value: Any) -> Any:
    """Remove empty members, among which the recording counts "None"."""
    if isinstance(value, list):
        return [trimmed(one) for one in value]
    if not isinstance(value, dict):
        return value
    members = {name: trimmed(one) for name, one in value.items()}
    return {name: one for name, one in members.items() if one not in (None, [], {}, "", False, "None")}


def planned(query: str, paths: list[str]) -> dict[str, Any]:
    """Return the plan and ranges, or the codes and messages, of the emulator."""
    kind = "MultiHash" if len(paths) > 1 else "Hash"
    key = PartitionKeyDefinition.parse({"paths": paths, "kind": kind, "version": 2})
    try:
        plan = parse_query(query, [], DIALECT).plan(key, FEATURES)
    except QueryError as error:
        return {"errors": [(one.get("code"), one["message"]) for one in error.errors]}
    except CosmosError as error:
        return {"errors": [(None, error.message)]}
    infos = {name: trimmed(plan[name]) for name in ("queryInfo", "hybridSearchQueryInfo") if trimmed(plan.get(name))}
    return {**infos, "ranges": plan["queryRanges"]}


def recorded(row: dict[str, Any]) -> dict[str, Any]:
    """Return the same of the planner."""
    if "errors" in row:
        return {"errors": [(one.get("code"), one["message"]) for one in row["errors"]]}
    return {**trimmed(row["plan"]), "ranges": row["ranges"]}


@cache
def recording() -> list[dict[str, Any]]:
    with gzip.open(VECTORS / "query-plans.jsonl.gz", "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def test_queries_have_the_plans_of_microsofts_planner() -> None:
    exceptions = json.loads((VECTORS / "query-plan-exceptions.json").read_text(encoding="utf-8"))
    expected = {query for queries in exceptions.values() for query in queries}
    rows = recording()

    different = {row["query"] for row in rows if planned(row["query"], row["pk"]) != recorded(row)}

    assert sorted(different - expected) == []
    assert sorted(expected - different) == [], "these are no longer exceptions"


def test_the_queries_of_microsofts_planner_run() -> None:
    plans = [row["plan"] for row in recording() if "plan" in row]
    infos = [info for plan in plans for info in (plan.get("queryInfo", {}), *components(plan))]
    items = [{"_rid": "r", "a": 1, "b": 3, "t": "x", "u": "y", "v": [1, 2, 3]}]

    for query in {info["rewrittenQuery"] for info in infos if "rewrittenQuery" in info}:
        counted = PHRASES_TO_HITS.sub(lambda m: f"{m[1]}{m[2]}, {[1] * len(json.loads(m[1]))}", query)
        text = parse_query(re.sub(PLACEHOLDER, "1", counted.replace(FILTER, "true")), [], DIALECT)
        assert text.search is not None or text.compile().run(items) is not None


def components(plan: dict[str, Any]) -> list[dict[str, Any]]:
    search = plan.get("hybridSearchQueryInfo", {})
    return [*search.get("componentQueryInfos", []), {"rewrittenQuery": search.get("globalStatisticsQuery", "SELECT 1")}]
