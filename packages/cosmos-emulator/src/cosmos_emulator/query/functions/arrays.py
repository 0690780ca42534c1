"""Array, set and object functions, IIF and CHOOSE."""

from __future__ import annotations

import base64
import binascii

from cosmos_emulator.query.functions.function import Function, table
from cosmos_emulator.query.values import (
    UNDEFINED,
    Json,
    JsonOrUndefined,
    Undefined,
    deep_equal,
    identity,
    is_integral,
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
    return set(map(identity, array)).issuperset(map(identity, values))


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
    wanted = set(map(identity, right))
    return [element for element in _distinct(left) if identity(element) in wanted]


def _set_union(left: JsonOrUndefined, right: JsonOrUndefined) -> JsonOrUndefined:
    if type(left) is not list or type(right) is not list:
        return UNDEFINED
    return _distinct([*left, *right])


def _distinct(array: list[Json]) -> list[Json]:
    return list({identity(element): element for element in reversed(array)}.values())[::-1]


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
    Function("ARRAY_CONCAT", _array_concat, 2, None),
    Function("ARRAY_CONTAINS", _array_contains, 2, 3),
    Function("ARRAY_CONTAINS_ALL", _array_contains_all, 2, None),
    Function("ARRAY_CONTAINS_ANY", _array_contains_any, 2, None),
    Function("ARRAY_LENGTH", _array_length, 1, 1),
    Function("ARRAY_SLICE", _array_slice, 2, 3),
    Function("CHOOSE", _choose, 2, None),
    Function("DOCUMENTID", document_id, 1, 1),
    Function("IIF", _iif, 3, 3),
    Function("OBJECTTOARRAY", _object_to_array, 1, 3),
    Function("SETINTERSECT", _set_intersect, 2, 2),
    Function("SETUNION", _set_union, 2, 2),
)
