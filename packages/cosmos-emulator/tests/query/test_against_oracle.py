"""Random queries over random items, compared with the oracle."""

# ruff: noqa: S608 - the tests build these queries themselves
from __future__ import annotations

from typing import Any

from cosmos_emulator.query import OrderPosition, compile_query, parse
from hypothesis import given
from hypothesis import strategies as st
from tests.query import oracle
from tests.query.oracle import Condition, Item
from tests.query.rows import ordered_rows, rows

KEYS = st.lists(
    st.tuples(st.sampled_from(oracle.FIELDS), st.booleans()), min_size=1, max_size=2, unique_by=lambda key: key[0]
)
COUNTS = st.integers(min_value=0, max_value=8)


def order_by(keys: list[tuple[str, bool]]) -> str:
    return "ORDER BY " + ", ".join(f"c.{name} {'DESC' if descending else 'ASC'}" for name, descending in keys)


def assert_same_rows(actual: list[Any], expected: list[Any]) -> None:
    assert oracle.same(actual, expected), f"{actual} != {expected}"


@given(oracle.item_lists, oracle.conditions)
def test_filters_match_the_oracle(items: list[Item], condition: Condition) -> None:
    expected = oracle.filtered(items, condition)
    assert_same_rows(rows(f"SELECT * FROM c WHERE {condition.text}", items), expected)


@given(oracle.item_lists, oracle.conditions)
def test_condition_values_match_the_oracle(items: list[Item], condition: Condition) -> None:
    values = [condition.value(item) for item in items]
    expected = [value for value in values if value is not oracle.UNDEFINED]
    assert_same_rows(rows(f"SELECT VALUE {condition.text} FROM c", items), expected)


@given(oracle.item_lists, oracle.conditions, KEYS, COUNTS, COUNTS)
def test_ordered_rows_with_offset_and_limit_match_the_oracle(
    items: list[Item], condition: Condition, keys: list[tuple[str, bool]], offset: int, limit: int
) -> None:
    text = f"SELECT * FROM c WHERE {condition.text} {order_by(keys)} OFFSET {offset} LIMIT {limit}"
    expected = oracle.ordered(oracle.filtered(items, condition), keys)[offset : offset + limit]
    assert_same_rows(rows(text, items[::-1]), expected)


@given(oracle.item_lists, KEYS, COUNTS)
def test_ordered_rows_with_top_match_the_oracle(items: list[Item], keys: list[tuple[str, bool]], top: int) -> None:
    text = f"SELECT TOP {top} VALUE c.id FROM c {order_by(keys)}"
    expected = [item["id"] for item in oracle.ordered(items, keys)[:top]]
    assert_same_rows(rows(text, items), expected)


@given(oracle.item_lists, oracle.conditions, st.sampled_from(oracle.FIELDS), COUNTS)
def test_distinct_rows_match_the_oracle(items: list[Item], condition: Condition, name: str, top: int) -> None:
    text = f"SELECT DISTINCT TOP {top} VALUE c.{name} FROM c WHERE {condition.text}"
    values = [item[name] for item in oracle.filtered(items, condition) if name in item]
    assert_same_rows(rows(text, items), oracle.distinct(values)[:top])


@given(oracle.item_lists, st.sampled_from(oracle.FIELDS), st.booleans())
def test_ordered_distinct_rows_match_the_oracle(items: list[Item], name: str, descending: bool) -> None:
    text = f"SELECT DISTINCT VALUE c.{name} FROM c {order_by([(name, descending)])}"
    values = [item[name] for item in oracle.ordered(items, [(name, descending)]) if name in item]
    assert_same_rows(rows(text, items), oracle.distinct(values))


FUNCTIONS = ["COUNT", "SUM", "MIN", "MAX", "AVG"]


@given(oracle.item_lists, oracle.conditions, st.sampled_from(oracle.FIELDS), st.sampled_from(oracle.FIELDS))
def test_groups_match_the_oracle(items: list[Item], condition: Condition, key: str, name: str) -> None:
    calls = ", ".join(f"{function}(c.{name}) AS {function}_" for function in FUNCTIONS)
    text = f"SELECT c.{key} AS k, {calls} FROM c WHERE {condition.text} GROUP BY c.{key}"
    expected = [
        oracle.without_undefined({"k": value} | _aggregates(group, name))
        for value, group in oracle.grouped(oracle.filtered(items, condition), key)
    ]
    assert_same_rows(rows(text, items), expected)


@given(oracle.item_lists, oracle.conditions, st.sampled_from(oracle.FIELDS))
def test_aggregates_match_the_oracle(items: list[Item], condition: Condition, name: str) -> None:
    calls = ", ".join(f"{function}(c.{name}) AS {function}_" for function in FUNCTIONS)
    expected = oracle.without_undefined(_aggregates(oracle.filtered(items, condition), name))
    assert_same_rows(rows(f"SELECT {calls} FROM c WHERE {condition.text}", items), [expected])


def _aggregates(items: list[Item], name: str) -> Item:
    return {f"{function}_": oracle.aggregate(function, items, name) for function in FUNCTIONS}


@given(oracle.item_lists, oracle.conditions, KEYS, st.integers(min_value=1, max_value=5), st.none() | COUNTS)
def test_ordered_pages_return_all_rows(
    items: list[Item], condition: Condition, keys: list[tuple[str, bool]], page_size: int, top: int | None
) -> None:
    head = "" if top is None else f"TOP {top}"
    query = parse(f"SELECT {head} * FROM c WHERE {condition.text} {order_by(keys)}")
    expected = oracle.ordered(oracle.filtered(items, condition), keys)[:top]
    pages: list[Any] = []
    position: OrderPosition | None = None
    while True:
        page = list(ordered_rows(compile_query(query, {}), items, position))[:page_size]
        if not page:
            break
        pages += [row for row, _ in page]
        position = page[-1][1]
    assert_same_rows(pages, expected)
