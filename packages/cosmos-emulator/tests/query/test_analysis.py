# ruff: noqa: S608 - the tests build these queries themselves
from __future__ import annotations

from typing import Any

import pytest
from cosmos_emulator.query import compile_query, filter_predicates, order_by_paths, parse, pinned_values
from hypothesis import given
from tests.query import oracle
from tests.query.oracle import Condition


def predicates(condition: str, source: str = "c") -> list[tuple[Any, ...]]:
    query = parse(f"SELECT * FROM {source} WHERE {condition}")
    return [(found.path, found.op, *found.values) for found in filter_predicates(query, {"@p": "v"})]


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        ("c.a = 1", [(("a",), "=", 1)]),
        ("1 < c.a", [(("a",), ">", 1)]),
        ("c.a.b >= @p", [(("a", "b"), ">=", "v")]),
        ("c['a b'] != null", [(("a b",), "!=", None)]),
        ("c.a BETWEEN 1 AND 2", [(("a",), ">=", 1), (("a",), "<=", 2)]),
        ("c.a IN (1, 'x')", [(("a",), "IN", 1, "x")]),
        ("c.a = 1 AND (c.b = 2 AND c.d = 3)", [(("a",), "=", 1), (("b",), "=", 2), (("d",), "=", 3)]),
        ("STARTSWITH(c.a, 'x')", [(("a",), "STARTSWITH", "x")]),
        ("CONTAINS(c.a, 'x', true)", [(("a",), "CONTAINS", "x")]),
        ("IS_DEFINED(c.a)", [(("a",), "IS_DEFINED")]),
        ("c.a", [(("a",), "=", True)]),
        ("c.a = 1 OR c.b = 2", []),
        ("c.a = 1 OR c.a > 2", []),
        ("c.a = 1 OR c.a IN (2, 3)", [(("a",), "IN", 1, 2, 3)]),
        (
            "(c.a = 1 AND c.b = 2) OR (c.b = 4 AND c.a = 3)",
            [(("a",), "IN", 1, 3), (("b",), "IN", 2, 4)],
        ),
        ("(c.a = 1 AND c.b = 2) OR (c.a = 3 AND c.d = 4)", [(("a",), "IN", 1, 3)]),
        ("c.a = c.b", []),
        ("LOWER(c.a) = 'x'", []),
        ("c.arr[0] = 1", []),
        ("NOT (c.a = 1)", []),
        ("c = 1", []),
    ],
)
def test_conditions_that_an_index_serves_are_found(condition: str, expected: list[tuple[Any, ...]]) -> None:
    assert predicates(condition) == expected


def test_only_paths_that_start_at_the_item_are_used() -> None:
    assert predicates("r.a = 1", "Root r") == [(("a",), "=", 1)]
    assert predicates("t.a = 1", "t IN c.t") == []
    assert predicates("t.a = 1 AND c.b = 2", "c JOIN t IN c.t") == [(("b",), "=", 2)]


@pytest.mark.parametrize(
    ("clause", "expected"),
    [
        ("c.a", [(("a",), False)]),
        ("c.a.b DESC, c.d", [(("a", "b"), True), (("d",), False)]),
        ("c.arr[0]", None),
        ("t.x", None),
    ],
)
def test_order_by_paths_are_found(clause: str, expected: Any) -> None:
    assert order_by_paths(parse(f"SELECT VALUE 1 FROM c JOIN t IN c.t ORDER BY {clause}")) == expected


def test_a_query_without_order_has_no_order_paths() -> None:
    assert order_by_paths(parse("SELECT * FROM c")) is None


@given(oracle.conditions, oracle.item_lists)
def test_filtering_by_the_analysis_loses_no_match(condition: Condition, items: list[dict[str, Any]]) -> None:
    query = parse(f"SELECT * FROM c WHERE {condition.text}")
    compiled = compile_query(query, {})
    pinned = pinned_values(query, {}, ("a",))
    found = filter_predicates(query, {})
    for item in items:
        if compiled.matches(item):
            assert all(predicate.test([item]) for predicate in found)
            assert pinned is None or any(oracle.same(item.get("a", oracle.UNDEFINED), known) for known in pinned)
