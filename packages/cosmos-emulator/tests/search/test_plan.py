"""The plans of searches, as in the .NET SDK's QueryPlanRetrieverTests and QueryPlanBaselineTests."""

from __future__ import annotations

from typing import Any

import pytest
from cosmos_emulator.errors import CosmosError
from cosmos_emulator.partitioning.partition_keys import PartitionKeyDefinition
from cosmos_emulator.query import Dialect, Json
from cosmos_emulator.reads.query_text import parse_query
from cosmos_emulator.search.functions import SearchFunctions
from cosmos_emulator.search.policies import Embedding, SearchPolicies

KEY = PartitionKeyDefinition.parse({"paths": ["/pk"], "kind": "Hash", "version": 2})
COUNT = "{documentdb-formattablehybridsearchquery-totaldocumentcount}"
FILTER = "({documentdb-formattableorderbyquery-filter})"
FEATURES = {"OrderBy", "Top", "OffsetAndLimit", "NonStreamingOrderBy", "HybridSearch", "WeightedRankFusion"}


def text_score(*words: str, number: int = 0) -> str:
    phrases = ", ".join(f'"{word}"' for word in words)
    statistics = f"{{documentdb-formattablehybridsearchquery-%s-{number}}}"
    placeholders = f"{COUNT}, {statistics % 'totalwordcount'}, {statistics % 'hitcountsarray'}"
    return f"_FullTextScore(c.text, [{phrases}], {placeholders})"


def plan(order: str, head: str = "SELECT TOP 10 * FROM c", *more: str, distance: str = "cosine") -> dict[str, Any]:
    policies = SearchPolicies({("image",): Embedding(3, distance=distance)})
    parameters: Json = [{"name": "@v", "value": [1, 2, 3]}, {"name": "@weights", "value": [1, -0.3]}]
    text = parse_query(f"{head} {order}", parameters, Dialect(functions=SearchFunctions(policies)))
    return text.plan(KEY, FEATURES | set(more))


@pytest.mark.parametrize("features", [(), ("HybridSearchSkipOrderByRewrite",)])
def test_full_text_score(features: tuple[str, ...]) -> None:
    found = plan('ORDER BY RANK FullTextScore(c.text, "swim", "run")', "SELECT TOP 10 * FROM c", *features)

    assert "queryInfo" not in found
    score = text_score("swim", "run")
    assert found["hybridSearchQueryInfo"] == {
        "globalStatisticsQuery": "SELECT COUNT(1) AS documentCount, "
        '[{"totalWordCount": SUM(_FullTextWordCount(c.text)), "hitCounts": '
        '[COUNTIF(FullTextContains(c.text, "swim")), COUNTIF(FullTextContains(c.text, "run"))]}] '
        "AS fullTextStatistics\nFROM c",
        "componentQueryInfos": [
            {
                "distinctType": "None",
                "top": 120,
                "offset": None,
                "limit": None,
                "orderBy": ["Descending"],
                "orderByExpressions": [score],
                "groupByExpressions": [],
                "groupByAliases": [],
                "aggregates": [],
                "groupByAliasToAggregateType": {},
                "rewrittenQuery": f'SELECT TOP 120 c._rid, [{{"item": {score}}}] AS orderByItems, {{"payload": c, '
                f'"componentScores": [({score} ?? -1)]}} AS payload\nFROM c\nWHERE {FILTER}\nORDER BY {score} DESC',
                "hasSelectValue": False,
                "dCountInfo": None,
                "hasNonStreamingOrderBy": True,
            }
        ],
        "componentWithoutPayloadQueryInfos": [],
        "projectionQueryInfo": None,
        "componentWeights": [],
        "skip": None,
        "take": 10,
        "requiresGlobalStatistics": True,
        "scoreCombinationKind": "Rrf",
    }


def test_two_scores_for_a_client_that_skips_the_rewrite() -> None:
    found = plan(
        'ORDER BY RANK RRF(FullTextScore(c.text, "swim", "run"), VectorDistance(c.image, [1, 2, 3]))',
        "SELECT TOP 10 * FROM c",
        "HybridSearchSkipOrderByRewrite",
    )["hybridSearchQueryInfo"]

    score, vector = text_score("swim", "run"), "_VectorScore(c.image, [1, 2, 3])"
    scores = f"[({score} ?? -1), ({vector} ?? -1.7976900000000001e+308)]"
    head = f"SELECT TOP 120 c._rid, c AS payload, {scores} AS componentScores\nFROM c"
    queries = [one["rewrittenQuery"] for one in found["componentQueryInfos"]]
    assert queries == [f"{head}\nORDER BY {score} DESC", f"{head}\nORDER BY {vector}"]
    assert found["componentQueryInfos"][0]["orderBy"] == []
    assert found["componentQueryInfos"][0]["top"] is None
    assert found["componentQueryInfos"][0]["hasNonStreamingOrderBy"] is False


@pytest.mark.parametrize("weights", ["[1, -0.3]", "@weights"])
def test_a_negative_weight_reverses_the_order(weights: str) -> None:
    order = f"ORDER BY RANK RRF(VectorDistance(c.other, [0.5, 0.2]), VectorDistance(c.image, @v), {weights})"
    one, other = "_VectorScore(c.other, [0.5, 0.2])", "_VectorScore(c.image, @v)"

    found = plan(order)["hybridSearchQueryInfo"]
    skipped = plan(order, "SELECT TOP 10 * FROM c", "HybridSearchSkipOrderByRewrite")["hybridSearchQueryInfo"]

    assert found["componentWeights"] == [1.0, 0.3]
    assert found["requiresGlobalStatistics"] is False
    assert found["globalStatisticsQuery"] == "SELECT COUNT(1) AS documentCount, [] AS fullTextStatistics\nFROM c"
    assert [info["orderBy"] for info in found["componentQueryInfos"]] == [["Descending"], ["Ascending"]]
    assert (
        f'"componentScores": [({one} ?? -1.7976900000000001e+308), ({other} ?? 1.7976900000000001e+308)]'
        in (found["componentQueryInfos"][1]["rewrittenQuery"])
    )
    assert found["componentQueryInfos"][1]["rewrittenQuery"].endswith(f"ORDER BY {other} ASC")
    assert (
        f"[({one} ?? -1.7976900000000001e+308), (-1 * ({other} ?? 1.7976900000000001e+308))] AS componentScores"
        in (skipped["componentQueryInfos"][1]["rewrittenQuery"])
    )


@pytest.mark.parametrize(
    ("head", "limit", "start", "end", "skip", "take"),
    [
        ("SELECT TOP 0 c.name FROM c", "", "SELECT TOP 120 c._rid", "DESC", None, 0),
        ("SELECT TOP 2147483647 c.name FROM c", "", "SELECT TOP 4294967294 c._rid", "DESC", None, 2147483647),
        ("SELECT c.name FROM c", "OFFSET 0 LIMIT 10", "SELECT c._rid", "OFFSET 0 LIMIT 120", 0, 10),
        ("SELECT c.name FROM c", "OFFSET 10 LIMIT 0", "SELECT c._rid", "OFFSET 0 LIMIT 120", 10, 0),
        ("SELECT c.name FROM c", "OFFSET 100 LIMIT 50", "SELECT c._rid", "OFFSET 0 LIMIT 300", 100, 50),
        ("SELECT c.name FROM c", "OFFSET 1 LIMIT 2147483647", "SELECT c._rid", "LIMIT 4294967295", 1, 2147483647),
        ("SELECT c.name FROM c", "", "SELECT c._rid", "DESC", None, None),
    ],
)
def test_the_rows_of_a_score_are_limited(
    head: str, limit: str, start: str, end: str, skip: int | None, take: int | None
) -> None:
    found = plan(f"ORDER BY RANK FullTextScore(c.text, 'swim') {limit}", head)["hybridSearchQueryInfo"]

    query = found["componentQueryInfos"][0]["rewrittenQuery"]
    assert query.startswith(start)
    assert query.endswith(end)
    assert '{"payload": {"name": c.name}, "componentScores"' in query
    assert (found["skip"], found["take"]) == (skip, take)


@pytest.mark.parametrize(("distance", "direction"), [("cosine", "Descending"), ("euclidean", "Ascending")])
def test_vector_distance(distance: str, direction: str) -> None:
    head = "SELECT TOP 10 c.title AS Title, VectorDistance(c.image, @v, true) AS Score FROM c"

    info = plan("ORDER BY VectorDistance(c.image, @v, true)", head, distance=distance)["queryInfo"]

    call = "VectorDistance(c.image, @v, true)"
    assert info["orderBy"] == [direction]
    assert info["orderByExpressions"] == [call]
    assert info["hasNonStreamingOrderBy"] is True
    assert info["rewrittenQuery"] == (
        f'SELECT TOP 10 c._rid, [{{"item": {call}}}] AS orderByItems, '
        f'{{"Title": c.title, "Score": {call}}} AS payload\n'
        f"FROM c\nWHERE {FILTER}\nORDER BY {call}"
    )


def test_a_client_must_support_the_features() -> None:
    text = parse_query(
        "SELECT TOP 1 * FROM c ORDER BY RANK RRF(FullTextScore(c.t, 'a'), FullTextScore(c.u, 'b'), [1, 2])",
        [],
        Dialect(functions=SearchFunctions(SearchPolicies())),
    )

    with pytest.raises(CosmosError, match="HybridSearch NonStreamingOrderBy WeightedRankFusion"):
        text.plan(KEY, {"OrderBy", "Top"})
