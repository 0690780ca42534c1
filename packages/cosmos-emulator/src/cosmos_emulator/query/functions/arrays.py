"""Array, set and object functions, IIF and CHOOSE."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable, Hashable
from statistics import median
from typing import Any

from cosmos_emulator.query.functions.function import Function, table
from cosmos_emulator.query.values import (
    UNDEFINED,
    Json,
    JsonOrUndefined,
    Number,
    Undefined,
    deep_equal,
    finite,
    identity,
    is_integral,
    is_number,
    number,
)


def _array_concat(*arrays: JsonOrUndefined) -> JsonOrUndefined:
    joined: list[Json] = []
    for array in arrays:
        if type(array) is not list:
            return UNDEFINED
        joined.extend(array)
    return joined


def _array_contains(
    array: JsonOrUndefined, value: JsonOrUndefined, partial: JsonOrUndefined = False
) -> bool | Undefined:
    if type(array) is not list or value is UNDEFINED or type(partial) is not bool:
        return UNDEFINED
    if partial and type(value) is dict:
        return any(_includes(element, value) for element in array)
    return any(deep_equal(element, value) for element in array)


def _includes(element: Json, wanted: dict[str, Json]) -> bool:
    return type(element) is dict and all(
        name in element and deep_equal(element[name], value) for name, value in wanted.items()
    )


def _array_contains_any(array: JsonOrUndefined, *values: JsonOrUndefined) -> bool | Undefined:
    if type(array) is not list:
        return UNDEFINED
    wanted = set(map(identity, values))
    if any(identity(element) in wanted for element in array):
        return True
    # Without a match, an undefined argument decides (learn.microsoft.com/cosmos-db/query/array-contains-any).
    return UNDEFINED if UNDEFINED in values else False


def _array_contains_all(array: JsonOrUndefined, *values: JsonOrUndefined) -> bool | Undefined:
    if type(array) is not list:
        return UNDEFINED
    found = set(map(identity, array))
    if any(identity(value) not in found for value in values if value is not UNDEFINED):
        return False
    # If all others are found, an undefined argument decides, as in ARRAY_CONTAINS_ANY.
    return UNDEFINED if UNDEFINED in values else True


def _array_length(array: JsonOrUndefined) -> int | Undefined:
    return len(array) if type(array) is list else UNDEFINED


def _array_slice(array: JsonOrUndefined, start: JsonOrUndefined, *length: JsonOrUndefined) -> JsonOrUndefined:
    if type(array) is not list or not is_integral(start):
        return UNDEFINED
    first = int(start) if start >= 0 else max(len(array) + int(start), 0)
    if not length:
        return array[first:]
    count = length[0]
    return array[first : first + max(int(count), 0)] if is_integral(count) else UNDEFINED


def _set_intersect(left: JsonOrUndefined, right: JsonOrUndefined) -> JsonOrUndefined:
    if type(left) is not list or type(right) is not list:
        return UNDEFINED
    wanted = set(map(identity, left))
    # In the order of the second set: learn.microsoft.com/cosmos-db/query/setintersect.
    return [element for element in _distinct(right) if identity(element) in wanted]


def _set_union(left: JsonOrUndefined, right: JsonOrUndefined) -> JsonOrUndefined:
    if type(left) is not list or type(right) is not list:
        return UNDEFINED
    return _distinct([*left, *right])


def _distinct(array: list[Json]) -> list[Json]:
    first: dict[Hashable, Json] = {}
    for element in array:
        first.setdefault(identity(element), element)
    return list(first.values())


def _set_difference(left: JsonOrUndefined, right: JsonOrUndefined) -> JsonOrUndefined:
    if type(left) is not list or type(right) is not list:
        return UNDEFINED
    unwanted = set(map(identity, right))
    return [element for element in _distinct(left) if identity(element) not in unwanted]


def _set_equal(left: JsonOrUndefined, right: JsonOrUndefined) -> JsonOrUndefined:
    if type(left) is not list or type(right) is not list:
        return UNDEFINED
    return set(map(identity, left)) == set(map(identity, right))


def _of_numbers(compute: Callable[[list[Number]], Number]) -> Callable[..., JsonOrUndefined]:
    """Make a function of an array of numbers; undefined if it is empty or has anything else."""

    def apply(array: JsonOrUndefined) -> JsonOrUndefined:
        if type(array) is not list or not array:
            return UNDEFINED
        numbers = [element for element in array if is_number(element)]
        return finite(number(compute(numbers))) if len(numbers) == len(array) else UNDEFINED

    return apply


def _extreme(choose: Callable[..., Json]) -> Callable[..., JsonOrUndefined]:
    """Make a function of an array of primitive values, ordered as null, boolean, number, string."""

    def apply(array: JsonOrUndefined) -> JsonOrUndefined:
        if type(array) is not list or not array or any(type(element) in (list, dict) for element in array):
            return UNDEFINED
        return choose(array, key=_rank)

    return apply


def _rank(value: Json) -> tuple[int, Any]:
    if value is None or type(value) is bool:
        return (0, 0) if value is None else (1, value)
    return (2, value) if is_number(value) else (3, value)


def _object_to_array(
    value: JsonOrUndefined, key: JsonOrUndefined = "k", member: JsonOrUndefined = "v"
) -> JsonOrUndefined:
    """Convert `{"a": 1}` to `[{"k": "a", "v": 1}]`, or other names."""
    if type(value) is not dict or type(key) is not str or type(member) is not str:
        return UNDEFINED
    return [{key: name, member: content} for name, content in value.items()]


def _choose(index: JsonOrUndefined, *choices: JsonOrUndefined) -> JsonOrUndefined:
    if not is_integral(index) or not 1 <= index <= len(choices):
        return UNDEFINED
    return choices[int(index) - 1]


def _iif(test: JsonOrUndefined, then: JsonOrUndefined, otherwise: JsonOrUndefined) -> JsonOrUndefined:
    return then if test is True else otherwise


def document_id(item: JsonOrUndefined) -> int | Undefined:
    """Return an item's number in its container: the last eight bytes of `_rid`, little-endian."""
    rid = item.get("_rid") if type(item) is dict else None
    if type(rid) is not str:
        return UNDEFINED
    try:
        return int.from_bytes(base64.b64decode(rid.replace("-", "/"))[8:16], "little")
    except (binascii.Error, ValueError):
        return UNDEFINED


ARRAY_FUNCTIONS = table(
    Function("ARRAY_AVG", _of_numbers(lambda numbers: sum(numbers) / len(numbers)), 1, 1),
    Function("ARRAY_CONCAT", _array_concat, 2, None),
    Function("ARRAY_CONTAINS", _array_contains, 2, 3),
    Function("ARRAY_CONTAINS_ALL", _array_contains_all, 2, None),
    Function("ARRAY_CONTAINS_ANY", _array_contains_any, 2, None),
    Function("ARRAY_LENGTH", _array_length, 1, 1),
    Function("ARRAY_MAX", _extreme(max), 1, 1),
    Function("ARRAY_MEDIAN", _of_numbers(median), 1, 1),
    Function("ARRAY_MIN", _extreme(min), 1, 1),
    Function("ARRAY_SLICE", _array_slice, 2, 3),
    Function("ARRAY_SUM", _of_numbers(sum), 1, 1),
    Function("CHOOSE", _choose, 2, None),
    Function("DOCUMENTID", document_id, 1, 1),
    Function("IIF", _iif, 3, 3),
    Function("OBJECTTOARRAY", _object_to_array, 1, 3),
    Function("SETDIFFERENCE", _set_difference, 2, 2),
    Function("SETEQUAL", _set_equal, 2, 2),
    Function("SETINTERSECT", _set_intersect, 2, 2),
    Function("SETUNION", _set_union, 2, 2),
)
