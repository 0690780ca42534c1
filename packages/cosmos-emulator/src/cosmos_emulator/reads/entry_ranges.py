"""The ranges of an index that hold the matches of a query, and their order.

A condition narrows its path to single values (*points*) or to an interval. An index serves the conditions on its first
parts: any number of points, then one interval. After points, it also provides an order. The ranges hold a superset of
the matches, which the compiled query filters.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Final

from cosmos_emulator.query import Json, Predicate
from cosmos_emulator.query.values import JsonOrUndefined
from cosmos_emulator.store import encoding
from cosmos_emulator.store.encoding import encoded, inverted, successor
from cosmos_emulator.store.index_definition import IndexDefinition, IndexPart, Names
from cosmos_emulator.store.items import EntryRange

_MOST_STRETCHES: Final = 64
_LOWEST, _HIGHEST = b"\x01", b"\xfe"
_ENDS: Final = {
    encoding.NULL_TAG: encoding.NULL_TAG,
    encoding.FALSE_TAG: encoding.TRUE_TAG,
    encoding.TRUE_TAG: encoding.TRUE_TAG,
}
_STARTS: Final = {encoding.TRUE_TAG: encoding.FALSE_TAG}
_SERVED: Final = frozenset({"=", "IN", "<", "<=", ">", ">=", "STARTSWITH"})


@dataclass(frozen=True, slots=True)
class Condition:
    """A condition on a path: its encoded value is in [low, high) and, if `points` is set, in `points`."""

    points: tuple[bytes, ...] | None = None
    low: bytes = _LOWEST
    high: bytes = _HIGHEST

    def __and__(self, other: Condition) -> Condition:
        points = self.points
        if points is None or (other.points is not None and len(other.points) < len(points)):
            points = other.points
        return Condition(points, max(self.low, other.low), min(self.high, other.high))


@dataclass(frozen=True, slots=True)
class OrderedStretch:
    """The index entries in `entries`. All start with `prefix`; the rest of each sorts in query order."""

    prefix: bytes
    entries: EntryRange


@dataclass(frozen=True, slots=True)
class IndexOrder:
    """An order that an index provides, by `parts`; several stretches must be merged.

    Unless `is_complete`, `parts` cover only the start of ORDER BY, and items with equal parts must still be sorted.
    """

    stretches: tuple[OrderedStretch, ...]
    parts: tuple[IndexPart, ...]
    backward: bool
    is_complete: bool

    def place(self, stretch: OrderedStretch, entry: bytes) -> bytes:
        """Return the part of an entry that is its position in the order, comparable across stretches."""
        start = end = len(stretch.prefix)
        for part in self.parts:
            if end >= len(entry):
                break
            end = encoding.end_of_value(entry, end, descending=part.descending)
        return entry[start:end]

    def resumed(self, values: Mapping[Names, JsonOrUndefined]) -> IndexOrder:
        """Return the rest of the order, starting with the items that have these values."""
        return self._cut(values, upward=not self.backward)

    def until(self, values: Mapping[Names, JsonOrUndefined]) -> IndexOrder:
        """Return the start of the order, ending with the items that have these values."""
        return self._cut(values, upward=self.backward)

    def _cut(self, values: Mapping[Names, JsonOrUndefined], *, upward: bool) -> IndexOrder:
        place = b""
        for part in self.parts:
            data, exact = encoded(values[part.path])
            place += inverted(data) if part.descending else data
            if not exact:
                break
        stretches = tuple(_cut(stretch, place, upward=upward) for stretch in self.stretches)
        return replace(self, stretches=stretches)


def conditions_of(predicates: Iterable[Predicate]) -> dict[Names, Condition]:
    """Return the condition on each path, ignoring predicates that an index cannot serve."""
    conditions: dict[Names, Condition] = {}
    for predicate in predicates:
        condition = _condition(predicate)
        if condition is not None:
            conditions[predicate.path] = conditions.get(predicate.path, Condition()) & condition
    return conditions


def stretches_of(
    definition: IndexDefinition, conditions: Mapping[Names, Condition], start: bytes
) -> list[EntryRange] | None:
    """Return the ranges that hold every match; None without a condition on the first part of the index.

    `start` is the prefix of the entries to search.
    """
    if definition.parts[0].path not in conditions:
        return None
    return _narrowed(definition.parts, conditions, start, _MOST_STRETCHES)


def ordered_path(
    definition: IndexDefinition,
    conditions: Mapping[Names, Condition],
    order: Sequence[tuple[Names, bool]],
    start: bytes,
) -> IndexOrder | None:
    """Return how an index provides the order of (path, descending); None if it does not."""
    constant = {path for path, condition in conditions.items() if condition.points and len(condition.points) == 1}
    wanted = [(path, descending) for path, descending in order if path not in constant]
    for used in reversed(range(len(definition.parts))):
        found = _ordered_after(definition, used, conditions, wanted, start)
        if found is not None:
            return found
    return None


def wanted_parts(conditions: Mapping[Names, Condition], order: Sequence[tuple[Names, bool]]) -> tuple[IndexPart, ...]:
    """Return the parts of the index that would serve a query best; empty if none would help."""
    points = [path for path, condition in conditions.items() if condition.points is not None]
    if order:
        first = [IndexPart(path) for path in points if all(path != ordered for ordered, _ in order)][:1]
        return (*first, *(IndexPart(path, descending) for path, descending in order))
    return tuple(IndexPart(path) for path in (*points, *conditions)[:1])


def _ordered_after(
    definition: IndexDefinition,
    used: int,
    conditions: Mapping[Names, Condition],
    wanted: Sequence[tuple[Names, bool]],
    start: bytes,
) -> IndexOrder | None:
    parts = definition.parts[used:]
    shared, backward = 0, False
    while shared < min(len(parts), len(wanted)) and parts[shared].path == wanted[shared][0]:
        turned = parts[shared].descending != wanted[shared][1]
        if shared and turned != backward:
            break
        backward, shared = turned, shared + 1
    if not shared:
        return None
    prefixes, reached = _prefixes(definition.parts[:used], conditions, start, _MOST_STRETCHES)
    if reached < used:
        return None
    most = _MOST_STRETCHES // max(1, len(prefixes))
    stretches = tuple(
        OrderedStretch(prefix, entries) for prefix in prefixes for entries in _narrowed(parts, conditions, prefix, most)
    )
    return IndexOrder(stretches, parts[:shared], backward, shared == len(wanted))


def _narrowed(
    parts: Sequence[IndexPart], conditions: Mapping[Names, Condition], start: bytes, most: int
) -> list[EntryRange]:
    """Return at most `most` ranges of entries that start with `start`: points of the first parts, then an interval."""
    prefixes, used = _prefixes(parts, conditions, start, most)
    if used == len(parts):
        return [(prefix, successor(prefix)) for prefix in prefixes]
    return [_bounded(prefix, parts[used], conditions) for prefix in prefixes]


def _prefixes(
    parts: Sequence[IndexPart], conditions: Mapping[Names, Condition], start: bytes, most: int
) -> tuple[list[bytes], int]:
    """Return the prefixes for the combinations of points of the first parts, and the number of these parts."""
    choices: list[list[bytes]] = []
    count = 1
    for part in parts:
        condition = conditions.get(part.path)
        if condition is None or condition.points is None or count * len(condition.points) > most:
            break
        count *= len(condition.points)
        choices.append([inverted(point) if part.descending else point for point in condition.points])
    return [start + b"".join(combination) for combination in product(*choices)], len(choices)


def _bounded(prefix: bytes, part: IndexPart, conditions: Mapping[Names, Condition]) -> EntryRange:
    condition = conditions.get(part.path, Condition())
    low, high = condition.low, condition.high
    if part.descending:
        low, high = successor(inverted(high)), successor(inverted(low))
    return prefix + low, prefix + high


def _cut(stretch: OrderedStretch, place: bytes, *, upward: bool) -> OrderedStretch:
    """Return the entries from a place upward, or up to and including the place."""
    low, high = stretch.entries
    if upward:
        return OrderedStretch(stretch.prefix, (max(low, stretch.prefix + place), high))
    return OrderedStretch(stretch.prefix, (low, min(high, successor(stretch.prefix + place))))


def _condition(predicate: Predicate) -> Condition | None:
    if predicate.op not in _SERVED or (predicate.op == "STARTSWITH" and predicate.ignore_case):
        return None
    if predicate.op == "IN":
        return _one_of(predicate.values)
    (value,) = predicate.values
    if predicate.op == "=":
        return _one_of((value,))
    if predicate.op == "STARTSWITH":
        beginning = encoding.beginning_of(str(value))
        return Condition(None, beginning, successor(beginning))
    return _beyond(predicate.op, value)


def _one_of(values: Sequence[Json]) -> Condition:
    known = {encoded(value) for value in values}
    if not known:
        return Condition((), _HIGHEST, _LOWEST)
    data = sorted(each for each, _ in known)
    exact = all(is_exact for _, is_exact in known)
    return Condition(tuple(data) if exact else None, data[0], successor(data[-1]))


def _beyond(operator: str, value: Json) -> Condition | None:
    """Return an interval within the type of the value: comparing it with another type is undefined."""
    if isinstance(value, list | dict):
        return None
    data, exact = encoded(value)
    tag = data[:1]
    match operator:
        case "<":
            return Condition(None, _STARTS.get(tag, tag), data if exact else successor(data))
        case "<=":
            return Condition(None, _STARTS.get(tag, tag), successor(data))
        case ">":
            return Condition(None, successor(data) if exact else data, successor(_ENDS.get(tag, tag)))
    return Condition(None, data, successor(_ENDS.get(tag, tag)))
