"""The Int functions: 64-bit signed integers that wrap around, as in C++.

Non-integers and division by zero are undefined (learn.microsoft.com/azure/cosmos-db/nosql/query/intbitleftshift and
related pages).
"""

from __future__ import annotations

from collections.abc import Callable

from cosmos_emulator.query.functions.function import Function, table
from cosmos_emulator.query.values import UNDEFINED, JsonOrUndefined, Undefined, is_integral

_BITS = 64


def wrap(value: int, bits: int = _BITS) -> int:
    """Wrap an integer to two's complement."""
    value &= (1 << bits) - 1
    return value - (1 << bits) if value >> (bits - 1) else value


def _integer(compute: Callable[..., int | Undefined]) -> Callable[..., int | Undefined]:
    def apply(*arguments: JsonOrUndefined) -> int | Undefined:
        integers = [int(argument) for argument in arguments if is_integral(argument)]
        if len(integers) != len(arguments) or any(wrap(integer) != integer for integer in integers):
            return UNDEFINED
        result = compute(*integers)
        return result if result is UNDEFINED else wrap(result)

    return apply


def _divide(dividend: int, divisor: int) -> int | Undefined:
    if divisor == 0:
        return UNDEFINED
    quotient = abs(dividend) // abs(divisor)
    return quotient if (dividend < 0) == (divisor < 0) else -quotient


def _remainder(dividend: int, divisor: int) -> int | Undefined:
    """Return the remainder with the dividend's sign."""
    if divisor == 0:
        return UNDEFINED
    remainder = abs(dividend) % abs(divisor)
    return -remainder if dividend < 0 else remainder


def _shift_left(value: int, places: int) -> int:
    return value << (places % _BITS)


def _shift_right(value: int, places: int) -> int:
    return value >> (places % _BITS)


INTEGER_FUNCTIONS = table(
    Function("INTADD", _integer(lambda a, b: a + b), 2, 2),
    Function("INTBITAND", _integer(lambda a, b: a & b), 2, 2),
    Function("INTBITLEFTSHIFT", _integer(_shift_left), 2, 2),
    Function("INTBITNOT", _integer(lambda a: ~a), 1, 1),
    Function("INTBITOR", _integer(lambda a, b: a | b), 2, 2),
    Function("INTBITRIGHTSHIFT", _integer(_shift_right), 2, 2),
    Function("INTBITXOR", _integer(lambda a, b: a ^ b), 2, 2),
    Function("INTDIV", _integer(_divide), 2, 2),
    Function("INTMOD", _integer(_remainder), 2, 2),
    Function("INTMUL", _integer(lambda a, b: a * b), 2, 2),
    Function("INTSUB", _integer(lambda a, b: a - b), 2, 2),
)
