# ruff: noqa: S608 - the tests build these queries themselves
from __future__ import annotations

import random
from typing import Any

import pytest
from cosmos_emulator.errors import CosmosError
from cosmos_emulator.query import OrderPosition, compile_query, parse
from tests.query.rows import refusal, rows

MIXED: list[dict[str, Any]] = [
    {},
    {"v": None},
    {"v": False},
    {"v": True},
    {"v": -1.5},
    {"v": 0},
    {"v": 2},
    {"v": ""},
    {"v": "B"},
    {"v": "a"},
    {"v": "é"},
    {"v": "😀"},
    {"v": "\uffff"},
    {"v": []},
    {"v": [1]},
    {"v": [1, 2]},
    {"v": {}},
    {"v": {"a": 1}},
]


@pytest.mark.parametrize("direction", ["ASC", "DESC"])
def test_order_by_sorts_by_type_and_then_by_value(direction: str) -> None:
    shuffled = random.Random(7).sample(MIXED, len(MIXED))
    expected = MIXED if direction == "ASC" else MIXED[::-1]
    assert rows(f"SELECT * FROM c ORDER BY c.v {direction}", shuffled) == expected


def test_several_keys_each_have_a_direction() -> None:
    items = [{"a": a, "b": b} for a in (1, 2) for b in (1, 2)]
    text = "SELECT VALUE [c.a, c.b] FROM c ORDER BY c.a DESC, c.b ASC"
    assert rows(text, items) == [[2, 1], [2, 2], [1, 1], [1, 2]]


@pytest.mark.parametrize(
    ("keys", "expected"),
    [("c.k", [0, 1, 2]), ("c.k DESC", [2, 1, 0]), ("c.k, c.j DESC", [0, 1, 2]), ("c.k DESC, c.j", [2, 1, 0])],
)
def test_ties_are_in_the_order_of_creation_in_the_direction_of_the_first_key(keys: str, expected: list[int]) -> None:
    rids = ["gAABAIAAAAEBAAAAAAAAAA==", "gAABAIAAAAECAAAAAAAAAA==", "gAABAIAAAAEAAQAAAAAAAA=="]
    items = [{"n": n, "_rid": rid, "k": 0} for n, rid in enumerate(rids)]
    query = compile_query(parse(f"SELECT VALUE c.n FROM c ORDER BY {keys}"), {})

    everything = list(query.run_ordered(items[::-1]))

    assert [row for row, _ in everything] == expected
    assert [row for row, _ in query.run_ordered(items, everything[0][1])] == expected[1:]


def test_order_by_requires_a_path() -> None:
    for expression in ("LOWER(c.a)", "1", "c.a + 1", "c.a || 'x'"):
        assert refusal(f"SELECT * FROM c ORDER BY {expression}")["code"] == "SC2206"


ITEMS = [
    {"id": str(n), "_rid": f"rid{n:03}", "k": n % 4 if n % 5 else [None, "x", 1.5, True][n % 4], "t": [n] * (n % 3)}
    for n in range(40)
]


def _paged(text: str, page_size: int) -> list[Any]:
    collected: list[Any] = []
    position: OrderPosition | None = None
    while True:
        page = compile_query(parse(text), {}).run_ordered(ITEMS, position)
        taken = [pair for pair, _ in zip(page, range(page_size), strict=False)]
        if not taken:
            return collected
        collected += [row for row, _ in taken]
        position = taken[-1][1]


@pytest.mark.parametrize("page_size", [1, 3, 7, 100])
@pytest.mark.parametrize(
    "text",
    [
        "SELECT * FROM c ORDER BY c.k",
        "SELECT * FROM c ORDER BY c.k DESC, c.id",
        "SELECT VALUE c.id FROM c WHERE c.k > 1 ORDER BY c.missing DESC",
        "SELECT TOP 11 c.id FROM c ORDER BY c.k DESC",
        "SELECT c.id FROM c ORDER BY c.k OFFSET 5 LIMIT 13",
        "SELECT c.id, t FROM c JOIN t IN c.t ORDER BY c.k",
    ],
)
def test_pages_of_any_size_return_all_rows(text: str, page_size: int) -> None:
    assert _paged(text, page_size) == rows(text, ITEMS)


def test_inserts_and_deletes_do_not_shift_pages() -> None:
    text = "SELECT VALUE c.id FROM c ORDER BY c.k"
    items = [{"id": str(n), "_rid": f"rid{n}", "k": n} for n in range(6)]
    page = list(compile_query(parse(text), {}).run_ordered(items))[:3]
    later = [{"id": "new", "_rid": "rid9", "k": -1}, *items[1:2], *items[3:]]
    rest = compile_query(parse(text), {}).run_ordered(later, page[-1][1])
    assert [row for row, _ in rest] == ["3", "4", "5"]


@pytest.mark.parametrize(
    "position",
    [
        {},
        {"keys": [], "rid": "x", "row": 0, "taken": 1},
        {"keys": [1], "rid": "x", "row": 0, "taken": 1},
        {"keys": [{}], "rid": "x", "row": -1, "taken": 1},
        {"keys": [{}], "rid": None, "row": 0, "taken": 1},
    ],
)
def test_a_malformed_position_is_rejected(position: OrderPosition) -> None:
    with pytest.raises(CosmosError, match="malformed"):
        list(compile_query(parse("SELECT * FROM c ORDER BY c.k"), {}).run_ordered(ITEMS, position))
