"""Logical and conditional operators.

False decides AND, and true decides OR. Values other than true and false count as undefined
(learn.microsoft.com/azure/cosmos-db/nosql/query/logical-operators).
"""

from __future__ import annotations

from collections.abc import Sequence

from cosmos_emulator.query.compiler.comparisons import COMPARISONS
from cosmos_emulator.query.compiler.scope import Evaluator, Frame, Test
from cosmos_emulator.query.functions.like import like_pattern
from cosmos_emulator.query.values import UNDEFINED, JsonOrUndefined, Undefined


def logical(operator: str, operands: Sequence[Evaluator]) -> Evaluator:
    """Compile AND or OR."""
    decisive = operator == "OR"

    def evaluate(frame: Frame) -> bool | Undefined:
        answer: bool | Undefined = not decisive
        for operand in operands:
            value = operand(frame)
            if value is decisive:
                return decisive
            if type(value) is not bool:
                answer = UNDEFINED
        return answer

    return evaluate


def logical_test(operator: str, tests: Sequence[Test]) -> Test:
    """Compile a test of AND or OR."""
    first, second = tests[0], tests[1]
    if operator == "AND":
        if len(tests) == 2:
            return lambda frame: first(frame) and second(frame)
        return lambda frame: all(test(frame) for test in tests)
    if len(tests) == 2:
        return lambda frame: first(frame) or second(frame)
    return lambda frame: any(test(frame) for test in tests)


def coalesce(left: Evaluator, right: Evaluator) -> Evaluator:
    """Compile `left ?? right`."""

    def evaluate(frame: Frame) -> JsonOrUndefined:
        value = left(frame)
        return right(frame) if value is UNDEFINED else value

    return evaluate


def conditional(test: Evaluator, then: Evaluator, otherwise: Evaluator) -> Evaluator:
    """Compile `test ? then : otherwise`, whose test fails unless it is true.

    Sources: ScalarExpressionEvaluator.cs of the .NET SDK; learn.microsoft.com/cosmos-db/query/iif.
    """

    def evaluate(frame: Frame) -> JsonOrUndefined:
        return then(frame) if test(frame) is True else otherwise(frame)

    return evaluate


def between(value: Evaluator, low: Evaluator, high: Evaluator) -> Evaluator:
    """Compile BETWEEN, computing the value once."""
    at_least, at_most = COMPARISONS[">="], COMPARISONS["<="]

    def evaluate(frame: Frame) -> bool | Undefined:
        found = value(frame)
        above, below = at_least(found, low(frame)), at_most(found, high(frame))
        if above is False or below is False:
            return False
        return True if above is True and below is True else UNDEFINED

    return evaluate


def like(value: Evaluator, pattern: Evaluator, escape: str | None) -> Evaluator:
    """Compile LIKE."""

    def evaluate(frame: Frame) -> bool | Undefined:
        text, wanted = value(frame), pattern(frame)
        if type(text) is not str or type(wanted) is not str:
            return UNDEFINED
        return like_pattern(wanted, escape).fullmatch(text) is not None

    return evaluate
