"""Aggregate functions, which receive one value per row.

Recorded service behavior (.NET SDK, AggregateQueryTests.AggregateMixedTypes_baseline): undefined values are skipped. A
non-number makes SUM and AVG undefined; an array or object, MIN and MAX. Without rows, SUM and COUNT are 0 and others
undefined.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Protocol

from cosmos_emulator.query.ordering import SortKey, sort_key
from cosmos_emulator.query.sizes import Memory
from cosmos_emulator.query.values import UNDEFINED, Json, JsonOrUndefined, Number, identity, is_number, number


class Accumulator(Protocol):
    """One aggregate over the rows of a group."""

    def add(self, value: JsonOrUndefined) -> None:
        """Add a row's value."""

    def result(self) -> JsonOrUndefined:
        """Return the aggregate so far."""


class _Count:
    def __init__(self, _memory: Memory) -> None:
        self._count = 0

    def add(self, value: JsonOrUndefined) -> None:
        self._count += value is not UNDEFINED

    def result(self) -> int:
        return self._count


class _CountIf:
    def __init__(self, _memory: Memory) -> None:
        self._count = 0

    def add(self, value: JsonOrUndefined) -> None:
        self._count += value is True

    def result(self) -> int:
        return self._count


class _Sum:
    def __init__(self, _memory: Memory) -> None:
        self._total: Number = 0
        self._count = 0
        self._numeric = True

    def add(self, value: JsonOrUndefined) -> None:
        if is_number(value):
            self._total += value
            self._count += 1
        elif value is not UNDEFINED:
            self._numeric = False

    def result(self) -> JsonOrUndefined:
        return number(self._total) if self._numeric else UNDEFINED


class _Average(_Sum):
    def result(self) -> JsonOrUndefined:
        return number(self._total / self._count) if self._numeric and self._count else UNDEFINED


class _Minimum:
    """The first primitive value in ORDER BY order."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory
        self._best: JsonOrUndefined = UNDEFINED
        self._key: SortKey | None = None
        self._primitive = True

    def add(self, value: JsonOrUndefined) -> None:
        if value is UNDEFINED:
            return
        if type(value) is list or type(value) is dict:
            self._primitive = False
            return
        key = sort_key(value)
        if self._key is None or self._improves(key, self._key):
            if type(value) is str:  # others are small
                self._memory.keep(value, instead_of=self._best)
            self._best, self._key = value, key

    def _improves(self, candidate: SortKey, best: SortKey) -> bool:
        return candidate < best

    def result(self) -> JsonOrUndefined:
        return self._best if self._primitive else UNDEFINED


class _Maximum(_Minimum):
    def _improves(self, candidate: SortKey, best: SortKey) -> bool:
        return candidate > best


class _MakeList:
    def __init__(self, memory: Memory) -> None:
        self._memory = memory
        self._values: list[Json] = []

    def add(self, value: JsonOrUndefined) -> None:
        if value is not UNDEFINED:
            self._memory.keep(value)
            self._values.append(value)

    def result(self) -> list[Json]:
        return self._values


class _MakeSet:
    def __init__(self, memory: Memory) -> None:
        self._memory = memory
        self._values: dict[Hashable, Json] = {}

    def add(self, value: JsonOrUndefined) -> None:
        if value is not UNDEFINED and (key := identity(value)) not in self._values:
            self._memory.keep(value)
            self._values[key] = value

    def result(self) -> list[Json]:
        return list(self._values.values())


AGGREGATES: dict[str, Callable[[Memory], Accumulator]] = {
    "AVG": _Average,
    "COUNT": _Count,
    "COUNTIF": _CountIf,
    "MAKELIST": _MakeList,
    "MAKESET": _MakeSet,
    "MAX": _Maximum,
    "MIN": _Minimum,
    "SUM": _Sum,
}
