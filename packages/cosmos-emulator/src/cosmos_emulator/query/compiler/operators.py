"""Arithmetic, bit, string and unary operators, undefined for operands of the wrong type.

Numbers are doubles. Bit operators use 32-bit integers
(learn.microsoft.com/azure/cosmos-db/nosql/query/bitwise-operators).
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable

from cosmos_emulator.query.functions.integers import wrap
from cosmos_emulator.query.sizes import check_text
from cosmos_emulator.query.values import UNDEFINED, JsonOrUndefined, Number, as_double, is_number, number

BinaryOperator = Callable[[JsonOrUndefined, JsonOrUndefined], JsonOrUndefined]
UnaryOperator = Callable[[JsonOrUndefined], JsonOrUndefined]


def _arithmetic(compute: Callable[[Number, Number], Number]) -> BinaryOperator:
    def apply(left: JsonOrUndefined, right: JsonOrUndefined) -> JsonOrUndefined:
        if not is_number(left) or not is_number(right):
            return UNDEFINED
        try:
            return number(compute(left, right))
        except OverflowError:
            return number(compute(as_double(left), as_double(right)))

    return apply


def _divide(left: Number, right: Number) -> float:
    if right == 0:
        return math.nan if left == 0 or math.isnan(left) else math.copysign(math.inf, left)
    return left / right


def _remainder(left: Number, right: Number) -> float:
    """Return the remainder with the dividend's sign, as in JavaScript."""
    return math.nan if right == 0 or math.isinf(left) else math.fmod(left, right)


def _int32(value: Number) -> int:
    return wrap(int(value), 32) if math.isfinite(as_double(value)) else 0


def _bits(compute: Callable[[int, int], int]) -> BinaryOperator:
    def apply(left: JsonOrUndefined, right: JsonOrUndefined) -> JsonOrUndefined:
        if not is_number(left) or not is_number(right):
            return UNDEFINED
        return compute(_int32(left), _int32(right))

    return apply


def _shift_left(value: int, places: int) -> int:
    return wrap(value << (places & 31), 32)


def _shift_right(value: int, places: int) -> int:
    return value >> (places & 31)


def _shift_right_unsigned(value: int, places: int) -> int:
    return (value & 0xFFFFFFFF) >> (places & 31)


def _concatenate(left: JsonOrUndefined, right: JsonOrUndefined) -> JsonOrUndefined:
    if type(left) is not str or type(right) is not str:
        return UNDEFINED
    check_text(len(left) + len(right))
    return left + right


def _negate(value: JsonOrUndefined) -> JsonOrUndefined:
    return -value if is_number(value) else UNDEFINED


def _plus(value: JsonOrUndefined) -> JsonOrUndefined:
    return value if is_number(value) else UNDEFINED


def _complement(value: JsonOrUndefined) -> JsonOrUndefined:
    return ~_int32(value) if is_number(value) else UNDEFINED


def _not(value: JsonOrUndefined) -> JsonOrUndefined:
    return not value if type(value) is bool else UNDEFINED


BINARY: dict[str, BinaryOperator] = {
    "+": _arithmetic(operator.add),
    "-": _arithmetic(operator.sub),
    "*": _arithmetic(operator.mul),
    "/": _arithmetic(_divide),
    "%": _arithmetic(_remainder),
    "&": _bits(operator.and_),
    "|": _bits(operator.or_),
    "^": _bits(operator.xor),
    "<<": _bits(_shift_left),
    ">>": _bits(_shift_right),
    ">>>": _bits(_shift_right_unsigned),
    "||": _concatenate,
}
UNARY: dict[str, UnaryOperator] = {"-": _negate, "+": _plus, "~": _complement, "NOT": _not}
