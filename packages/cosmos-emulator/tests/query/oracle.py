"""A naive reference implementation of the documented query semantics, independent of the engine.

A generated condition is its SQL text and a Python function that returns its value for an item. The functions compare
types by name, order pairwise and group by searching lists.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import cmp_to_key
from typing import Any

from cosmos_emulator.query.complex_order import complex_key
from hypothesis import strategies as st

Item = dict[str, Any]


class _Undefined:
    def __repr__(self) -> str:
        return "undefined"


UNDEFINED = _Undefined()
TYPE_ORDER = ["undefined", "null", "boolean", "number", "string", "array", "object"]


def kind(value: Any) -> str:
    for name, types in {
        "undefined": _Undefined,
        "null": type(None),
        "boolean": bool,
        "number": (int, float),
        "string": str,
        "array": list,
        "object": dict,
    }.items():
        if isinstance(value, types):
            return name
    raise TypeError(value)


def same(left: Any, right: Any) -> bool:
    """Deep equality of two JSON values."""
    if kind(left) != kind(right):
        return False
    if kind(left) == "array":
        return len(left) == len(right) and all(same(a, b) for a, b in zip(left, right, strict=True))
    if kind(left) == "object":
        return sorted(left) == sorted(right) and all(same(left[name], right[name]) for name in left)
    return bool(left == right)


def order(left: Any, right: Any) -> int:
    """Compare as ORDER BY does: negative, zero, or positive."""
    if kind(left) != kind(right):
        return TYPE_ORDER.index(kind(left)) - TYPE_ORDER.index(kind(right))
    match kind(left):
        case "undefined" | "null":
            return 0
        case "string":
            left, right = (text.encode("utf-16-be", "surrogatepass") for text in (left, right))
        case "array" | "object":
            left, right = complex_key(left), complex_key(right)
    return (left > right) - (left < right)


def compare(operator: str, left: Any, right: Any) -> Any:
    """Return the comparison's value: true, false, or undefined."""
    if "undefined" in (kind(left), kind(right)):
        return UNDEFINED
    if operator in ("=", "!="):
        return same(left, right) == (operator == "=")
    if kind(left) != kind(right) or kind(left) in ("array", "object"):
        return UNDEFINED
    sign = order(left, right)
    return {"<": sign < 0, "<=": sign <= 0, ">": sign > 0, ">=": sign >= 0}[operator]


def conjunction(values: list[Any]) -> Any:
    if any(value is False for value in values):
        return False
    return True if all(value is True for value in values) else UNDEFINED


def negation(value: Any) -> Any:
    return not value if isinstance(value, bool) else UNDEFINED


def disjunction(values: list[Any]) -> Any:
    return negation(conjunction([negation(value) for value in values]))


# Items

TEXTS = st.sampled_from(["", "a", "A", "ab", "b", "é", "\uffff", "😀", "1"])
NUMBERS = st.sampled_from([-1, 0, 1, 1.0, 1.5, 2, 10, 2**40])
SCALARS = st.none() | st.booleans() | NUMBERS | TEXTS
VALUES = SCALARS | st.lists(SCALARS, max_size=2) | st.dictionaries(st.sampled_from("xy"), SCALARS, max_size=2)
FIELDS = ["a", "b", "n"]


@st.composite
def _items(draw: st.DrawFn) -> list[Item]:
    contents = draw(st.lists(st.dictionaries(st.sampled_from(FIELDS), VALUES, max_size=3), max_size=12))
    return [{"id": str(n), "_rid": f"rid{n:03}", **content} for n, content in enumerate(contents)]


item_lists = _items()


# Conditions


@dataclass(frozen=True)
class Condition:
    text: str
    value: Callable[[Item], Any]


def _literal(value: Any) -> Condition:
    return Condition(json.dumps(value), lambda _item: value)


def _field(name: str) -> Condition:
    return Condition(f"c.{name}", lambda item: item.get(name, UNDEFINED))


OPERANDS = st.builds(_field, st.sampled_from(FIELDS)) | st.builds(_literal, VALUES)


def _comparison(operator: str, left: Condition, right: Condition) -> Condition:
    text = f"{left.text} {operator} {right.text}"
    return Condition(text, lambda item: compare(operator, left.value(item), right.value(item)))


def _in(subject: Condition, choices: list[Condition]) -> Condition:
    text = f"{subject.text} IN ({', '.join(choice.text for choice in choices)})"
    return Condition(
        text, lambda item: disjunction([compare("=", subject.value(item), c.value(item)) for c in choices])
    )


def _between(subject: Condition, low: Condition, high: Condition) -> Condition:
    def value(item: Item) -> Any:
        found = subject.value(item)
        return conjunction([compare(">=", found, low.value(item)), compare("<=", found, high.value(item))])

    return Condition(f"{subject.text} BETWEEN {low.text} AND {high.text}", value)


def _is_defined(subject: Condition) -> Condition:
    return Condition(f"IS_DEFINED({subject.text})", lambda item: subject.value(item) is not UNDEFINED)


def _not(operand: Condition) -> Condition:
    return Condition(f"NOT ({operand.text})", lambda item: negation(operand.value(item)))


def _all_or_any(operator: str, operands: list[Condition]) -> Condition:
    combine = conjunction if operator == "AND" else disjunction
    text = f" {operator} ".join(f"({operand.text})" for operand in operands)
    return Condition(text, lambda item: combine([operand.value(item) for operand in operands]))


_SIMPLE = (
    st.builds(_comparison, st.sampled_from(["=", "!=", "<", "<=", ">", ">="]), OPERANDS, OPERANDS)
    | st.builds(_in, OPERANDS, st.lists(OPERANDS, min_size=1, max_size=3))
    | st.builds(_between, OPERANDS, OPERANDS, OPERANDS)
    | st.builds(_is_defined, st.builds(_field, st.sampled_from(FIELDS)))
    | OPERANDS
)
conditions = st.recursive(
    _SIMPLE,
    lambda inner: (
        st.builds(_not, inner)
        | st.builds(_all_or_any, st.sampled_from(["AND", "OR"]), st.lists(inner, min_size=2, max_size=3))
    ),
    max_leaves=6,
)


# Whole queries


def filtered(items: list[Item], condition: Condition) -> list[Item]:
    return [item for item in items if condition.value(item) is True]


def ordered(items: list[Item], keys: list[tuple[str, bool]]) -> list[Item]:
    """Sort by the fields, each ascending or descending. Ties keep the order of the items."""

    def pairwise(left: Item, right: Item) -> int:
        for name, descending in keys:
            sign = order(left.get(name, UNDEFINED), right.get(name, UNDEFINED))
            if sign:
                return -sign if descending else sign
        return 0

    return sorted(items, key=cmp_to_key(pairwise))


def distinct(values: list[Any]) -> list[Any]:
    kept: list[Any] = []
    for value in values:
        if not any(same(value, other) for other in kept):
            kept.append(value)
    return kept


def grouped(items: list[Item], name: str) -> list[tuple[Any, list[Item]]]:
    keys = distinct([item.get(name, UNDEFINED) for item in items])
    return [(key, [item for item in items if same(item.get(name, UNDEFINED), key)]) for key in keys]


def aggregate(function: str, items: list[Item], name: str) -> Any:
    values = [item[name] for item in items if name in item]
    kinds = {kind(value) for value in values}
    match function:
        case "COUNT":
            return len(values)
        case "SUM":
            return sum(values) if kinds <= {"number"} else UNDEFINED
        case "AVG":
            return sum(values) / len(values) if kinds == {"number"} else UNDEFINED
    if not values or kinds & {"array", "object"}:
        return UNDEFINED
    arranged = sorted(values, key=cmp_to_key(order))
    return arranged[0] if function == "MIN" else arranged[-1]


def without_undefined(row: Item) -> Item:
    return {name: value for name, value in row.items() if value is not UNDEFINED}
