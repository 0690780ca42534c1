"""Calls of built-in functions, without packing one to three arguments."""

from __future__ import annotations

from collections.abc import Sequence

from cosmos_emulator.query.compiler.scope import Evaluator
from cosmos_emulator.query.functions.function import Call


def call_evaluator(call: Call, arguments: Sequence[Evaluator]) -> Evaluator:
    """Compile a call with evaluated arguments."""
    match arguments:
        case [only]:
            return lambda frame: call(only(frame))
        case [first, second]:
            return lambda frame: call(first(frame), second(frame))
        case [first, second, third]:
            return lambda frame: call(first(frame), second(frame), third(frame))
    return lambda frame: call(*[argument(frame) for argument in arguments])
