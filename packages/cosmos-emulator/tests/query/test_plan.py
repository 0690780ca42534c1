"""Query plans: the cases of the .NET SDK's QueryPlanBaselineTests, and merges of partial results."""

# ruff: noqa: S608 - the tests build these queries themselves
from __future__ import annotations

import json
from typing import Any

import pytest
from cosmos_emulator.errors import CosmosError
from cosmos_emulator.query import UNDEFINED, parse, query_plan
from tests.query.rows import rows

FILTER = "{documentdb-formattableorderbyquery-filter}"
EVERYTHING = [("", "FF")]
NOTHING = [("", "")]


def epk(key: list[Any]) -> str:
    """Stand in for the hash with the key itself, which is readable."""
    return json.dumps(["?" if component is UNDEFINED else component for component in key])


def plan(text: str, paths: tuple[str, ...] = ("key",), parameters: Any = None, features: Any = None) -> dict[str, Any]:
    return query_plan(parse(text), parameters or {}, [(path,) for path in paths], features, epk)


def ranges(text: str, **arguments: Any) -> list[tuple[str, str]]:
    return [(found["min"], found["max"]) for found in plan(text, **arguments)["queryRanges"]]


def test_the_plan_of_a_plain_query_has_every_field() -> None:
    assert plan("SELECT * FROM c") == {
        "partitionedQueryExecutionInfoVersion": 2,
        "queryInfo": {
            "distinctType": "None",
            "top": None,
            "offset": None,
            "limit": None,
            "orderBy": [],
            "orderByExpressions": [],
            "groupByExpressions": [],
            "groupByAliases": [],
            "aggregates": [],
            "groupByAliasToAggregateType": {},
            "rewrittenQuery": "",
            "hasSelectValue": False,
            "dCountInfo": None,
            "hasNonStreamingOrderBy": False,
        },
        "queryRanges": [{"min": "", "max": "FF", "isMinInclusive": True, "isMaxInclusive": False}],
    }


def test_ordered_groups_have_keys_to_merge_by() -> None:
    found = plan("SELECT c.k FROM c GROUP BY c.k ORDER BY c.k DESC")["queryInfo"]
    assert (found["orderBy"], found["groupByExpressions"]) == (["Descending"], ["c.k"])

    items = [{"_rid": "a", "k": 1}, {"_rid": "b", "k": 2}, {"_rid": "c", "k": 1}]
    assert rows(found["rewrittenQuery"].replace(FILTER, "true"), items) == [
        {"_rid": "b", "orderByItems": [{"item": 2}], "payload": {"groupByItems": [{"item": 2}], "payload": {"k": 2}}},
        {"_rid": "a", "orderByItems": [{"item": 1}], "payload": {"groupByItems": [{"item": 1}], "payload": {"k": 1}}},
    ]


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        ("true", EVERYTHING),
        ("false", NOTHING),
        ("c.key = 5", [("[5]", "[5]")]),
        ("5 = c.key", [("[5]", "[5]")]),
        ("c['key'] = 'a' AND c.x > 1", [('["a"]', '["a"]')]),
        ("c.key = null", [("[null]", "[null]")]),
        ("c.key = []", [('["?"]', '["?"]')]),
        ("c.key IN (2, 1, 1.0)", [("[1]", "[1]"), ("[2]", "[2]")]),
        ("c.key = 1 OR c.key = 2", [("[1]", "[1]"), ("[2]", "[2]")]),
        ("c.key = 1 AND c.key = 2", NOTHING),
        ("c.key = 1 OR c.x = 2", EVERYTHING),
        ("c.key > 1", EVERYTHING),
        ("c.key != 1", EVERYTHING),
        ("NOT (c.key = 1)", EVERYTHING),
        ("c.key", [("[true]", "[true]")]),
        ("NOT c.key", [("[false]", "[false]")]),
        ("IS_NULL(c.key)", [("[null]", "[null]")]),
        ("ARRAY_CONTAINS([1, 2], c.key) AND c.key = 2", [("[2]", "[2]")]),
        ("c.key = @k", [('["v"]', '["v"]')]),
        ("c.key = LOWER('V')", [('["v"]', '["v"]')]),
        ("c.key = c.other", EVERYTHING),
        ("c.key.sub = 1", EVERYTHING),
    ],
)
def test_filters_narrow_the_ranges(condition: str, expected: list[tuple[str, str]]) -> None:
    assert ranges(f"SELECT * FROM c WHERE {condition}", parameters={"@k": "v"}) == expected


def test_prefixes_of_a_hierarchical_key_narrow_the_ranges() -> None:
    text = "SELECT * FROM c WHERE c.a = 1 AND c.b IN (2, 3)"
    assert ranges(text, paths=("a", "b")) == [("[1, 2]", "[1, 2]"), ("[1, 3]", "[1, 3]")]
    assert ranges(text, paths=("a", "z")) == [("[1]", "[1]FF")]
    assert ranges(text, paths=("z", "b")) == EVERYTHING


@pytest.mark.parametrize(("select", "alias"), [("VALUE COUNT(1)", ""), ("COUNT(1) AS n", "n"), ("COUNT(1)", "$1")])
def test_a_count_of_distinct_rows_is_left_to_the_client(select: str, alias: str) -> None:
    inner = "SELECT DISTINCT VALUE c.x FROM c WHERE c.key = 5"
    counted, plain = plan(f"SELECT {select} FROM ({inner}) AS d"), plan(inner)

    assert counted["queryRanges"] == plain["queryRanges"]
    assert counted["queryInfo"] == {
        **plain["queryInfo"],
        "rewrittenQuery": "SELECT DISTINCT VALUE c.x\nFROM c\nWHERE (c.key = 5)",
        "hasSelectValue": not alias,
        "dCountInfo": {"dCountAlias": alias},
    }
    with pytest.raises(CosmosError, match="DCount"):
        plan(f"SELECT {select} FROM ({inner})", features={"Aggregate", "Distinct", "NonValueAggregate"})


def test_a_query_without_from_has_one_range() -> None:
    assert ranges("SELECT 5") == NOTHING


def test_a_feature_the_client_does_not_support_is_rejected() -> None:
    with pytest.raises(CosmosError, match="GroupBy"):
        plan("SELECT c.a FROM c GROUP BY c.a", features={"Aggregate", "OrderBy"})
    assert plan("SELECT * FROM c ORDER BY c.a", features={"OrderBy"})


def test_a_query_with_an_error_has_no_plan() -> None:
    with pytest.raises(CosmosError, match="SC2005"):
        plan("SELECT NOPE(1) FROM c")


def test_partial_averages_merge_to_the_whole_average() -> None:
    items = [{"a": n} for n in range(7)]
    rewritten = plan("SELECT VALUE AVG(c.a) FROM c")["queryInfo"]["rewrittenQuery"]
    partials = [rows(rewritten, part)[0][0]["item"] for part in (items[:2], items[2:], [])]
    assert sum(p["sum"] for p in partials) / sum(p["count"] for p in partials) == 3


def test_rows_of_an_ordered_range_include_their_keys() -> None:
    rewritten = plan("SELECT c.n FROM c ORDER BY c.k")["queryInfo"]["rewrittenQuery"].replace(FILTER, "true")
    assert rows(rewritten, [{"_rid": "r1", "n": 1, "k": 2}, {"_rid": "r2", "n": 2}]) == [
        {"_rid": "r2", "orderByItems": [{}], "payload": {"n": 2}},
        {"_rid": "r1", "orderByItems": [{"item": 2}], "payload": {"n": 1}},
    ]
