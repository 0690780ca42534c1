"""Every query of vectors/query-plans.jsonl.gz has the plan, or the errors, of Microsoft's query planner.

Recorded from the planner in the .NET package Microsoft.Azure.Cosmos 3.64.0 (ServiceInterop), without members that are
empty. Queries that differ are in vectors/query-plan-exceptions.json, by reason.
"""

from __future__ import annotations

import gzip
import json
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


def test_queries_have_the_plans_of_microsofts_planner() -> None:
    exceptions = json.loads((VECTORS / "query-plan-exceptions.json").read_text(encoding="utf-8"))
    expected = {query for queries in exceptions.values() for query in queries}
    with gzip.open(VECTORS / "query-plans.jsonl.gz", "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]

    different = {row["query"] for row in rows if planned(row["query"], row["pk"]) != recorded(row)}

    assert sorted(different - expected) == []
    assert sorted(expected - different) == [], "these are no longer exceptions"
