"""Comparison operators as values (true, false, undefined) and as tests for exactly true.

Every comparison with undefined is undefined. Values of different types are not equal, and their order is undefined, as
is the order of arrays and objects. The documentation differs about equality; the .NET SDK's reference interpreter
(ScalarExpressionEvaluator.cs, PerformBinaryEquality) and EF Core's tests agree with this.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from cosmos_emulator.query.compiler.scope import Constant, Evaluator, Frame, Test
from cosmos_emulator.query.ordering import code_units
from cosmos_emulator.query.values import (
    NUMBERS,
    UNDEFINED,
    JsonOrUndefined,
    Number,
    Undefined,
    deep_equal,
    identity,
    is_number,
)

Comparison = Callable[[JsonOrUndefined, JsonOrUndefined], "bool | Undefined"]


def equals(left: JsonOrUndefined, right: JsonOrUndefined) -> bool | Undefined:
    """Return `left = right`."""
    return UNDEFINED if left is UNDEFINED or right is UNDEFINED else deep_equal(left, right)


def not_equals(left: JsonOrUndefined, right: JsonOrUndefined) -> bool | Undefined:
    """Return `left != right`."""
    return UNDEFINED if left is UNDEFINED or right is UNDEFINED else not deep_equal(left, right)


def _relation(compare: Callable[[Number | str, Number | str], bool], null_result: bool) -> Comparison:
    def related(left: JsonOrUndefined, right: JsonOrUndefined) -> bool | Undefined:
        if type(left) is str:
            return compare(code_units(left), code_units(right)) if type(right) is str else UNDEFINED
        if is_number(left):
            return compare(left, right) if is_number(right) else UNDEFINED
        if type(left) is bool:
            return compare(left, right) if type(right) is bool else UNDEFINED
        return null_result if left is None and right is None else UNDEFINED

    return related


COMPARISONS: dict[str, Comparison] = {
    "=": equals,
    "!=": not_equals,
    "<": _relation(operator.lt, null_result=False),
    "<=": _relation(operator.le, null_result=True),
    ">": _relation(operator.gt, null_result=False),
    ">=": _relation(operator.ge, null_result=True),
}
MIRRORED = {"=": "=", "!=": "!=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}
_NUMERIC: dict[str, Callable[[Any, Any], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


def comparison_test(name: str, left: Evaluator, right: Evaluator) -> Test:
    """Compile a test of `left name right`, specialized for a constant operand."""
    if isinstance(left, Constant) and not isinstance(right, Constant):
        name, left, right = MIRRORED[name], right, left
    compare = COMPARISONS[name]
    if not isinstance(right, Constant):
        return lambda frame: compare(left(frame), right(frame)) is True
    value = right.value
    if name == "=" and type(value) is str:
        return lambda frame: left(frame) == value
    if name == "=" and (value is None or type(value) is bool):
        return lambda frame: left(frame) is value
    if is_number(value) and name != "!=":
        return _number_test(name, left, value)
    if type(value) is str and name in _NUMERIC:
        return _string_test(name, left, value)
    return lambda frame: compare(left(frame), value) is True


def _number_test(name: str, left: Evaluator, value: Number) -> Test:
    if name == "=":

        def equal(frame: Frame) -> bool:
            found = left(frame)
            return found == value and type(found) is not bool

        return equal
    compare = _NUMERIC[name]

    def related(frame: Frame) -> bool:
        found = left(frame)
        return type(found) in NUMBERS and compare(found, value)

    return related


def _string_test(name: str, left: Evaluator, value: str) -> Test:
    compare, wanted = _NUMERIC[name], code_units(value)

    def related(frame: Frame) -> bool:
        found = left(frame)
        return type(found) is str and compare(code_units(found), wanted)

    return related


def membership(value: Evaluator, choices: list[Evaluator]) -> Evaluator:
    """Compile IN, the OR of its equalities."""

    def evaluate(frame: Frame) -> bool | Undefined:
        found = value(frame)
        answer: bool | Undefined = False
        for choice in choices:
            same = equals(found, choice(frame))
            if same is True:
                return True
            if same is UNDEFINED:
                answer = UNDEFINED
        return answer

    return evaluate


def membership_test(value: Evaluator, choices: list[Evaluator]) -> Test:
    """Compile a test of IN. Constant choices need one lookup."""
    constants = [choice.value for choice in choices if isinstance(choice, Constant)]
    if len(constants) < len(choices):
        evaluate = membership(value, choices)
        return lambda frame: evaluate(frame) is True
    wanted = frozenset(identity(constant) for constant in constants if constant is not UNDEFINED)
    return lambda frame: identity(value(frame)) in wanted
