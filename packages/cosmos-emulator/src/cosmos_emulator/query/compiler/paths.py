"""Access to properties and elements; undefined if missing."""

from __future__ import annotations

from cosmos_emulator.query.compiler.scope import Constant, Evaluator, Frame
from cosmos_emulator.query.values import UNDEFINED, JsonOrUndefined, is_integral


def slot_evaluator(slot: int) -> Evaluator:
    """Compile reading a slot."""
    return lambda frame: frame[slot]


def path_evaluator(slot: int, names: list[str]) -> Evaluator:
    """Compile `alias.name.name…`, without a loop for one or two steps."""
    first, second = names[0], names[-1]

    def one_step(frame: Frame) -> JsonOrUndefined:
        value = frame[slot]
        return value.get(first, UNDEFINED) if type(value) is dict else UNDEFINED

    def two_steps(frame: Frame) -> JsonOrUndefined:
        value = frame[slot]
        if type(value) is not dict:
            return UNDEFINED
        inner = value.get(first)
        return inner.get(second, UNDEFINED) if type(inner) is dict else UNDEFINED

    def steps(frame: Frame) -> JsonOrUndefined:
        value = frame[slot]
        for name in names:
            if type(value) is not dict:
                return UNDEFINED
            value = value.get(name, UNDEFINED)
        return value

    return {1: one_step, 2: two_steps}.get(len(names), steps)


def step(value: JsonOrUndefined, key: JsonOrUndefined) -> JsonOrUndefined:
    """Return `value[key]`: a property or an array element."""
    if type(value) is dict:
        return value.get(key, UNDEFINED) if type(key) is str else UNDEFINED
    if type(value) is list and is_integral(key) and 0 <= key < len(value):
        return value[int(key)]
    return UNDEFINED


def step_evaluator(target: Evaluator, key: Evaluator) -> Evaluator:
    """Compile `target[key]`."""
    if isinstance(key, Constant):
        fixed = key.value
        return lambda frame: step(target(frame), fixed)
    return lambda frame: step(target(frame), key(frame))
