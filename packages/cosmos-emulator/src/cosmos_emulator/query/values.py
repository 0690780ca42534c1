"""The values of queries: JSON as Python objects, and `UNDEFINED`.

A missing property is undefined, not `null`: no comparison equals it and no projection includes it
(learn.microsoft.com/azure/cosmos-db/nosql/query/equality-comparison-operators). Python booleans are numbers, so test
types exactly (`type(x) is bool`), not with `isinstance`.
"""

from __future__ import annotations

import math
from collections.abc import Hashable
from enum import Enum
from typing import Final, TypeAlias, TypeGuard, cast


class Undefined(Enum):
    """The type of `UNDEFINED`."""

    UNDEFINED = "undefined"

    def __repr__(self) -> str:
        return "UNDEFINED"


UNDEFINED: Final = Undefined.UNDEFINED

Json: TypeAlias = "bool | int | float | str | list[Json] | dict[str, Json] | None"
JsonOrUndefined: TypeAlias = "Json | Undefined"
Number: TypeAlias = "int | float"

NUMBERS: Final = (int, float)
"""The types of JSON numbers, without bool."""

EXACT_INTEGERS = 2**53
"""Doubles represent all integers up to this value; larger arithmetic results become floats."""


def is_number(value: JsonOrUndefined) -> TypeGuard[Number]:
    """Return whether the value is a JSON number."""
    return type(value) in NUMBERS


def number(value: Number) -> Number:
    """Return an arithmetic result, integral results as int."""
    if isinstance(value, int):
        return value if -EXACT_INTEGERS <= value <= EXACT_INTEGERS else as_double(value)
    if value.is_integer() and -EXACT_INTEGERS < value < EXACT_INTEGERS:
        return int(value)
    return value


def as_double(value: Number) -> float:
    """Return the nearest double, or infinity."""
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def is_integral(value: JsonOrUndefined) -> TypeGuard[Number]:
    """Return whether the value is a number without a fraction."""
    return type(value) is int or (type(value) is float and value.is_integer())


def deep_equal(left: JsonOrUndefined, right: JsonOrUndefined) -> bool:
    """Return whether two values are equal JSON: 1 equals 1.0, true does not."""
    if type(left) is dict:
        return (
            type(right) is dict
            and len(left) == len(right)
            and all(name in right and deep_equal(value, right[name]) for name, value in left.items())
        )
    if type(left) is list:
        return (
            type(right) is list
            and len(left) == len(right)
            and all(deep_equal(a, b) for a, b in zip(left, right, strict=True))
        )
    if type(left) is type(right) or (is_number(left) and is_number(right)):
        return left == right
    return False


def identity(value: JsonOrUndefined) -> Hashable:
    """Return a hashable key, equal exactly if the values are `deep_equal`."""
    if type(value) is bool:
        return (bool, value)
    if type(value) is list:
        return (list, *map(identity, value))
    if type(value) is dict:
        return (dict, frozenset((name, identity(member)) for name, member in value.items()))
    return cast(Hashable, value)


def finite(value: JsonOrUndefined) -> JsonOrUndefined:
    """Return the value, or UNDEFINED for infinities and NaN."""
    if type(value) is float and not math.isfinite(value):
        return UNDEFINED
    return value
