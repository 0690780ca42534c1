"""Mathematical functions on doubles, undefined for other arguments.

A result such as SQRT(-1) is NaN or infinite inside the query (see IS_FINITE_NUMBER), but undefined in a result row.
"""

from __future__ import annotations

import math
import secrets
from collections.abc import Callable

from cosmos_emulator.query.functions.function import Evaluated, Function, table
from cosmos_emulator.query.values import (
    UNDEFINED,
    JsonOrUndefined,
    Number,
    Undefined,
    as_double,
    is_number,
    number,
)

_RANDOM_BITS = 53
_MOST_DIGITS = 300  # of ROUND


def _real(compute: Callable[..., Number]) -> Callable[..., Number | Undefined]:

    def apply(*arguments: JsonOrUndefined) -> Number | Undefined:
        numbers = [as_double(argument) for argument in arguments if is_number(argument)]
        if len(numbers) != len(arguments):
            return UNDEFINED
        try:
            return number(compute(*numbers))
        except OverflowError:
            return math.inf
        except (ValueError, ZeroDivisionError):
            return math.nan

    return apply


def round_half_away(value: float) -> float:
    """Round to the nearest integer, halves away from zero."""
    if not math.isfinite(value) or value.is_integer():
        return value
    return math.copysign(math.floor(abs(value) + 0.5), value)


def _round(value: float, digits: float = 0.0) -> float:
    if digits == 0:
        return round_half_away(value)
    if not digits.is_integer() or abs(digits) > _MOST_DIGITS:
        return math.nan
    scale = math.pow(10, digits)
    return round_half_away(value * scale) / scale


def _integral(rounding: Callable[[float], Number]) -> Callable[[float], Number]:
    return lambda value: rounding(value) if math.isfinite(value) else value


def _sign(value: float) -> Number:
    return (value > 0) - (value < 0)


def _log(value: float, base: float | None = None) -> float:
    if value == 0:
        return -math.inf
    if base == 10:
        return math.log10(value)  # a quotient differs in the last digit
    return math.log(value) if base is None else math.log(value, base)


def _log10(value: float) -> float:
    return -math.inf if value == 0 else math.log10(value)


def number_bin(value: float, size: float = 1.0) -> Number:
    """Return the largest multiple of `size` up to the value."""
    return math.floor(value / size) * size


def _number_bin(value: JsonOrUndefined, size: JsonOrUndefined = 1) -> Number | Undefined:
    return _real(number_bin)(value, size) if size != 0 else UNDEFINED


def rand() -> float:
    """Return a random number in [0, 1)."""
    return secrets.randbits(_RANDOM_BITS) / float(1 << _RANDOM_BITS)


NUMBER_FUNCTIONS = table(
    Function("ABS", _real(abs), 1, 1),
    Function("ACOS", _real(math.acos), 1, 1),
    Function("ASIN", _real(math.asin), 1, 1),
    Function("ATAN", _real(math.atan), 1, 1),
    Function("ATN2", _real(math.atan2), 2, 2),
    Function("CEILING", _real(_integral(math.ceil)), 1, 1),
    Function("COS", _real(math.cos), 1, 1),
    Function("COT", _real(lambda value: 1 / math.tan(value)), 1, 1),
    Function("DEGREES", _real(math.degrees), 1, 1),
    Function("EXP", _real(math.exp), 1, 1),
    Function("FLOOR", _real(_integral(math.floor)), 1, 1),
    Function("LOG", _real(_log), 1, 2),
    Function("LOG10", _real(_log10), 1, 1),
    Function("NUMBERBIN", _number_bin, 1, 2),
    Function("PI", lambda: math.pi, 0, 0),
    Function("POWER", _real(math.pow), 2, 2),
    Function("RADIANS", _real(math.radians), 1, 1),
    Function("RAND", rand, 0, 0, Evaluated.PER_ROW),
    Function("ROUND", _real(_round), 1, 2),
    Function("SIGN", _real(_sign), 1, 1),
    Function("SIN", _real(math.sin), 1, 1),
    Function("SQRT", _real(math.sqrt), 1, 1),
    Function("SQUARE", _real(lambda value: value * value), 1, 1),
    Function("TAN", _real(math.tan), 1, 1),
    Function("TRUNC", _real(_integral(math.trunc)), 1, 1),
)
