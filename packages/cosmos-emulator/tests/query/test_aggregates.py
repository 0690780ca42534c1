# ruff: noqa: S608 - the tests build these queries themselves
from __future__ import annotations

from typing import Any

import pytest
from tests.query.rows import refusal, rows

NONE: list[Any] = []


@pytest.mark.parametrize(
    ("call", "values", "expected"),
    [
        ("COUNT(c.v)", [1, "a", None, ...], [3]),
        ("COUNT(1)", [1, ...], [2]),
        ("COUNT(1)", [], [0]),
        ("COUNTIF(c.v > 1)", [1, 2, 3, "x", ...], [2]),
        ("SUM(c.v)", [1, 2.5, ...], [3.5]),
        ("SUM(c.v)", [1, "2"], NONE),
        ("SUM(c.v)", [1, True], NONE),
        ("SUM(c.v)", [1, None], NONE),
        ("SUM(c.v)", [...], [0]),
        ("SUM(c.v)", [], [0]),
        ("AVG(c.v)", [1, 2, ...], [1.5]),
        ("AVG(c.v)", [1, 3], [2]),
        ("AVG(c.v)", [1, "x"], NONE),
        ("AVG(c.v)", [], NONE),
        ("MIN(c.v)", ["b", "a"], ["a"]),
        ("MIN(c.v)", ["b", 2, None, ...], [None]),
        ("MAX(c.v)", ["b", 2, None, True], ["b"]),
        ("MAX(c.v)", [...], NONE),
        ("MAX(c.v)", [1, [2]], NONE),
        ("MIN(c.v)", [1, {}], NONE),
        ("MIN(c.v)", [False, 0, True], [False]),
        ("MAKELIST(c.v)", [1, 1.0, ..., "a"], [[1, 1.0, "a"]]),
        ("MAKESET(c.v)", [1, 1.0, True, "a", "a"], [[1, True, "a"]]),
        ("SUM(c.v * 2)", [1, 2], [6]),
    ],
)
def test_aggregates_return_documented_values(call: str, values: list[Any], expected: list[Any]) -> None:
    items = [{} if content is ... else {"v": content} for content in values]
    assert rows(f"SELECT VALUE {call} FROM c", items) == expected


def test_undefined_aggregates_are_omitted_from_the_row() -> None:
    assert rows("SELECT AVG(c.v) FROM c") == [{}]
    assert rows("SELECT COUNT(1), MAX(c.v) AS m FROM c") == [{"$1": 0}]


def test_aggregates_can_be_nested_in_expressions() -> None:
    items = [{"v": 1}, {"v": 3}]
    text = 'SELECT VALUE [{"item": SUM(c.v), "item2": {"max": MAX(c.v), "count": COUNT(c.v)}}] FROM c'
    assert rows(text, items) == [[{"item": 4, "item2": {"max": 3, "count": 2}}]]
    assert rows("SELECT VALUE MAX(c.v) - MIN(c.v) FROM c", items) == [2]


def test_the_partial_aggregate_of_an_empty_range_omits_the_item() -> None:
    text = 'SELECT VALUE [{"item": MIN(c.v), "item2": {"min": MIN(c.v), "count": COUNT(c.v)}}] FROM c'
    assert rows(text) == [[{"item2": {"count": 0}}]]


SALES = [
    {"k": "a", "n": 1, "r": "x"},
    {"k": "b", "n": 2, "r": "x"},
    {"k": "a", "n": 3, "r": "y"},
    {"n": 4, "r": "x"},
]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "SELECT c.k, COUNT(1) AS n, SUM(c.n) AS s, AVG(c.n) AS a, MAX(c.n) AS m FROM c GROUP BY c.k",
            [
                {"k": "a", "n": 2, "s": 4, "a": 2, "m": 3},
                {"k": "b", "n": 1, "s": 2, "a": 2, "m": 2},
                {"n": 1, "s": 4, "a": 4, "m": 4},
            ],
        ),
        ("SELECT c.k, c.r FROM c WHERE c.n < 3 GROUP BY c.k, c.r", [{"k": "a", "r": "x"}, {"k": "b", "r": "x"}]),
        ("SELECT VALUE COUNT(1) FROM c GROUP BY c.r", [3, 1]),
        ("SELECT UPPER(c.r) AS r FROM c GROUP BY UPPER(c.r)", [{"r": "X"}, {"r": "Y"}]),
        ("SELECT UPPER(c.r) AS r FROM c GROUP BY c.r", [{"r": "X"}, {"r": "Y"}]),
        ("SELECT VALUE {r: c.r} FROM c GROUP BY {r: c.r}", [{"r": "x"}, {"r": "y"}]),
        ("SELECT VALUE COUNT(1) FROM c WHERE false GROUP BY c.k", []),
        ("SELECT VALUE c.r FROM c GROUP BY c.r OFFSET 1 LIMIT 1", ["y"]),
        ("SELECT TOP 1 VALUE c['r'] FROM c GROUP BY c.r", ["x"]),
        ("SELECT VALUE COUNT(1) FROM c ORDER BY c.n", [4]),
        (
            "SELECT VALUE (SELECT VALUE SUM((SELECT VALUE MAX(y) FROM y IN x)) "
            "FROM x IN (SELECT VALUE [[c.n]])) FROM c",
            [1, 2, 3, 4],
        ),
        ("SELECT VALUE c.r FROM c GROUP BY c.r ORDER BY c.r DESC", ["y", "x"]),
        (
            "SELECT VALUE [c.r, c.k] FROM c GROUP BY c.k, c.r ORDER BY c.r, c.k DESC",
            [["x", "b"], ["x", "a"], ["x"], ["y", "a"]],
        ),
    ],
)
def test_group_by_returns_one_row_per_group(text: str, expected: list[object]) -> None:
    assert rows(text, SALES) == expected


def test_rows_with_deeply_equal_keys_share_a_group() -> None:
    values = [1, 1.0, True, "1", {"a": 1, "b": 2}, {"b": 2, "a": 1.0}, None, [1], [1.0], ..., ...]
    items = [{} if content is ... else {"v": content} for content in values]
    assert rows("SELECT VALUE COUNT(1) FROM c GROUP BY c.v", items) == [2, 1, 1, 2, 1, 2, 2]


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("SELECT * FROM c GROUP BY c.a", "SC2041"),
        ("SELECT c.b FROM c GROUP BY c.a", "SC2102"),
        ("SELECT c.b, COUNT(1) FROM c", "SC2102"),
        ("SELECT VALUE MAX(MIN(c.a)) FROM c", "SC2101"),
        ("SELECT VALUE SUM((SELECT VALUE 1)) FROM c", "SC2101"),
        ("SELECT VALUE COUNT(1, 2) FROM c", "SC2050"),
        ("SELECT * FROM c WHERE COUNT(1) > 1", "SC2990"),
        ("SELECT c.a FROM c GROUP BY c.a ORDER BY c.b", "SC2103"),
    ],
)
def test_misplaced_aggregates_are_rejected(text: str, code: str) -> None:
    assert refusal(text)["code"] == code


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("SELECT VALUE COUNT(1) FROM (SELECT DISTINCT VALUE c.x FROM c)", [3]),
        ("SELECT COUNT(1) AS n FROM (SELECT DISTINCT c.x FROM c WHERE c.x != 2) AS d", [{"n": 2}]),
        ("SELECT VALUE COUNT(1) FROM (SELECT DISTINCT VALUE t FROM t IN c.tags)", [2]),
        ("SELECT VALUE COUNT(1) FROM (SELECT VALUE c.x FROM c)", [4]),
    ],
)
def test_distinct_rows_are_counted_once(text: str, expected: list[object]) -> None:
    items = [{"x": 1, "tags": ["a"]}, {"x": 1, "tags": ["b", "a"]}, {"x": 2}, {"x": [1]}, {}]
    assert rows(text, items) == expected


ORDERS = [
    {"u": "ada", "total": 1, "tags": ["a", "b"]},
    {"u": "ada", "total": 3, "tags": ["a"]},
    {"u": "bob", "total": 5, "tags": []},
]
GROUPS = "SELECT c.u, COUNT(1) AS n, SUM(c.total) AS total FROM c GROUP BY c.u"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"SELECT * FROM ({GROUPS}) AS d", [{"u": "ada", "n": 2, "total": 4}, {"u": "bob", "n": 1, "total": 5}]),
        (f"SELECT VALUE d.u FROM ({GROUPS}) AS d WHERE d.n > 1", ["ada"]),
        (f"SELECT VALUE MAX(d.total) FROM ({GROUPS}) AS d", [5]),
        (
            f"SELECT d.n, COUNT(1) AS users FROM ({GROUPS}) AS d GROUP BY d.n",
            [{"n": 2, "users": 1}, {"n": 1, "users": 1}],
        ),
        (f"SELECT TOP 1 VALUE d.u FROM ({GROUPS}) AS d", ["ada"]),
        (f"SELECT VALUE d.u FROM ({GROUPS}) AS d OFFSET 1 LIMIT 1", ["bob"]),
        (f"SELECT VALUE e.n FROM (SELECT VALUE d FROM ({GROUPS}) AS d) AS e", [2, 1]),
        (f"SELECT VALUE COUNT(1) FROM (SELECT DISTINCT d.n FROM ({GROUPS}) AS d) AS e", [2]),
        ("SELECT VALUE d FROM (SELECT DISTINCT VALUE c.u FROM c) AS d", ["ada", "bob"]),
        ("SELECT VALUE n + 1 FROM (SELECT VALUE COUNT(1) FROM c WHERE c.total > 1) AS n", [3]),
        ("SELECT VALUE t FROM (SELECT DISTINCT VALUE t FROM t IN c.tags) AS t", ["a", "b"]),
        ("SELECT VALUE t FROM t IN (SELECT VALUE MAKELIST(c.total) FROM c)", [1, 3, 5]),
        (
            "SELECT VALUE [d.n, x] FROM (SELECT COUNT(1) AS n, MAKESET(c.u) AS us FROM c) AS d JOIN x IN d.us",
            [[3, "ada"], [3, "bob"]],
        ),
    ],
)
def test_a_subquery_in_from_combines_all_items(text: str, expected: list[object]) -> None:
    assert rows(text, ORDERS) == expected


def test_true_and_1_are_different_literals() -> None:
    items = [{"f": True, "x": 1}, {"f": 1, "x": 2}, {"f": 1}]

    assert rows("SELECT COUNTIF(c.f = true) AS t, COUNTIF(c.f = 1) AS n FROM c", items) == [{"t": 1, "n": 2}]
    assert rows("SELECT SUM(c.x ?? false) AS f, SUM(c.x ?? 0) AS n FROM c", items) == [{"n": 3}]
    assert "SC2102" in refusal("SELECT c.x = true FROM c GROUP BY c.x = 1", items)["code"]
