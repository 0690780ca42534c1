# ruff: noqa: S608 - the tests build these queries themselves
from __future__ import annotations

import random
from typing import Any

import pytest
from cosmos_emulator.errors import CosmosError
from cosmos_emulator.query import OrderPosition, compile_query, parse
from cosmos_emulator.query.complex_order import complex_key
from tests.query.rows import ordered_rows, refusal, rows

MEMBERS = {"null": None, "false": False, "true": True, "cosmosNumber": 1234, "cosmosString": "asdfasdfasdfasdfasdfasdf"}

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
    {"v": [None, False, True, 1234, "asdfasdfasdfasdfasdfasdf"]},
    {"v": MEMBERS},
    {"v": {}},
]


# azure-cosmos-dotnet-v3, DistinctHashBaselineTests.ElementsHash.xml. The text has the last byte first (UInt128.cs).
@pytest.mark.parametrize(
    ("value", "hashed"),
    [
        (None, "898EFBF2680DAEA39E24D6AE6653417D"),
        (False, "6E88AA4242F017B7705F12581A61118F"),
        (True, "CD4D51AB869F071FF019C3E4A55C0125"),
        ("", "A78446CF287029A585B395A161A2A9A1"),
        (1234, "A94BF61335C9FBA42C28D7D9895D1434"),
        (1234.0, "A94BF61335C9FBA42C28D7D9895D1434"),
        ([], "7D54F729FF4A63FFA2EF3CA359538082"),
        ([None, False, True, 1234, "asdfasdfasdfasdfasdfasdf"], "A9407916DE27F316CC5A8E4EB9AFD5E6"),
        ({}, "14B86A60AA01A7381438743E80B965D8"),
        (MEMBERS, "3B6AA9F4F43AAEC0E48EBE2BC020D55C"),
        (dict(reversed(MEMBERS.items())), "3B6AA9F4F43AAEC0E48EBE2BC020D55C"),
    ],
)
def test_arrays_and_objects_sort_by_the_hash_that_the_dotnet_sdk_merges_by(value: Any, hashed: str) -> None:
    assert complex_key(value)[::-1].hex().upper() == hashed


@pytest.mark.parametrize("number", [2**53 + 1, -(2**53) - 1, 2**63 - 1])
def test_long_integers_have_hashes_of_their_own(number: int) -> None:
    assert complex_key([number]) != complex_key([number - 1])


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

    everything = list(ordered_rows(query, items[::-1]))

    assert [row for row, _ in everything] == expected
    assert [row for row, _ in ordered_rows(query, items, everything[0][1])] == expected[1:]


def test_order_by_requires_a_path() -> None:
    for expression in ("LOWER(c.a)", "1", "c.a + 1", "c.a || 'x'"):
        assert refusal(f"SELECT * FROM c ORDER BY {expression}")["code"] == 2206


ITEMS = [
    {"id": str(n), "_rid": f"rid{n:03}", "k": n % 4 if n % 5 else [None, "x", 1.5, True][n % 4], "t": [n] * (n % 3)}
    for n in range(40)
]


def _paged(text: str, page_size: int) -> list[Any]:
    collected: list[Any] = []
    position: OrderPosition | None = None
    while True:
        page = ordered_rows(compile_query(parse(text), {}), ITEMS, position)
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
    page = list(ordered_rows(compile_query(parse(text), {}), items))[:3]
    later = [{"id": "new", "_rid": "rid9", "k": -1}, *items[1:2], *items[3:]]
    rest = ordered_rows(compile_query(parse(text), {}), later, page[-1][1])
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
        list(ordered_rows(compile_query(parse("SELECT * FROM c ORDER BY c.k"), {}), ITEMS, position))
