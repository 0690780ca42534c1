"""Index selection: the index of a partition, if any, that finds the items of a query.

Indexes never change results. After a long scan, the query requests the index that would have helped.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from cosmos_emulator.query import Predicate
from cosmos_emulator.query.values import JsonOrUndefined
from cosmos_emulator.reads.entry_lookup import CHUNK, EntryLookup, FoundItems, IndexReading, KeptLookups
from cosmos_emulator.reads.entry_ranges import (
    Condition,
    IndexOrder,
    OrderedStretch,
    conditions_of,
    ordered_path,
    stretches_of,
    wanted_parts,
)
from cosmos_emulator.reads.paging import Fetch
from cosmos_emulator.reads.slices import Slice
from cosmos_emulator.runtime.pacing import checkpoint
from cosmos_emulator.store.index_definition import IndexDefinition, Names, local_prefix
from cosmos_emulator.store.index_entries import StoredIndex
from cosmos_emulator.store.items import EntryPosition, EntryRange, ItemScope, ScanPosition, StoredItem

_FEW: Final = 256  # fetching and sorting so few items is faster than filtering along an ordered index
LONG_SCAN: Final = 1000  # items; after such a scan, an index is requested
_FIRST_CHUNK: Final = 32

Order = Sequence[tuple[Names, bool]]


@dataclass(frozen=True, slots=True)
class AllItems:
    """Fetches all items of a slice that an index can serve, by number."""

    one: Slice

    def __call__(self, after: int, limit: int) -> list[StoredItem]:
        """Implement `paging.Fetch`."""
        key_range = self.one.scope.range  # of a single EPK
        start = ScanPosition("" if key_range is None else key_range.start, after)
        return self.one.items.scan(self.one.scope, start, limit)


@dataclass(frozen=True, slots=True)
class EqualEntries:
    """Fetches the items of a slice that share an index entry, by number."""

    one: Slice
    index: StoredIndex
    entry: bytes

    def __call__(self, after: int, limit: int) -> list[StoredItem]:
        """Implement `paging.Fetch`."""
        stretch, place = (self.entry, self.entry + b"\x00"), EntryPosition(self.entry, after)
        found = self.one.items.walk(self.index, self.one.scope, stretch, place, min(limit, CHUNK), backward=False)
        return [item for _, item in found]


@dataclass(frozen=True, slots=True)
class OrderedAccess:
    """The items of a slice in the order of an index."""

    one: Slice
    index: StoredIndex
    path: IndexOrder

    @property
    def filtered_paths(self) -> set[Names]:
        """The paths with conditions that all these items meet."""
        parts = self.index.definition.parts
        return {part.path for part in parts[: parts.index(self.path.parts[0]) + 1]}

    def resumed(self, values: Mapping[Names, JsonOrUndefined]) -> OrderedAccess:
        """Return the rest, starting with the items that have these values."""
        return OrderedAccess(self.one, self.index, self.path.resumed(values))

    def items(self) -> Iterator[tuple[bytes, StoredItem]]:
        """Yield the items with their position; items at the same position come in any order."""
        streams = [self._stream(stretch) for stretch in self.path.stretches]
        if len(streams) == 1:
            return streams[0]
        return heapq.merge(*streams, key=lambda found: found[0], reverse=self.path.backward)

    def _stream(self, stretch: OrderedStretch) -> Iterator[tuple[bytes, StoredItem]]:
        after: EntryPosition | None = None
        limit = _FIRST_CHUNK
        while chunk := self.one.items.walk(
            self.index, self.one.scope, stretch.entries, after, limit, backward=self.path.backward
        ):
            for entry, item in chunk:
                yield self.path.place(stretch, entry), item
            entry, item = chunk[-1]
            after, limit = EntryPosition(entry, item.number), CHUNK


class IndexAccess:
    """Selects an index for the conditions and the order of one query. `lookups` are by other pages."""

    def __init__(self, served: Sequence[Predicate], order: Order, lookups: KeptLookups | None = None) -> None:
        self._served = served
        self._lookups = lookups or KeptLookups()
        self.order = order

    @cached_property
    def _conditions(self) -> dict[Names, Condition]:
        return conditions_of(self._served)

    def candidates(self, one: Slice) -> Fetch | None:
        """Return how to fetch the items that meet the conditions, in scan order; None if no index narrows them."""
        options = self._options(one)
        if not options:
            return None
        lookup = self._lookup(one, options)
        equal = (EqualEntries(one, index, ranges[0][0]) for index, ranges in options if self._is_one_entry(index))
        otherwise = next(equal, None)
        if lookup.has_failed:
            return otherwise
        return FoundItems(one, lookup, otherwise or AllItems(one))

    def numbers(self, one: Slice) -> set[int] | None:
        """Return the numbers of the items that can meet the conditions; None if no index narrows them."""
        options = self._options(one)
        if not options:
            return None
        lookup = self._lookup(one, options)
        while lookup.numbers is None and not lookup.has_failed:
            checkpoint()
            lookup.advance(one)
        return None if lookup.numbers is None else {*lookup.numbers, *one.items.numbers_since(lookup.began)}

    def finds_few(self, one: Slice, instead_of: OrderedAccess) -> bool:
        """Return whether so few items meet the conditions that sorting them is faster than `instead_of`."""
        if all(path in instead_of.filtered_paths for path in self._conditions):
            return False
        return any(IndexReading(index, ranges).read(one.items, _FEW) for index, ranges in self._options(one))

    def ordered(self, one: Slice) -> OrderedAccess | None:
        """Return the items in the order of the query, or None if no index provides it.

        The best index starts with the most conditions, because those need no filter.
        """
        start = _start(one.scope)
        if start is None or not self.order:
            return None
        found = [
            OrderedAccess(one, index, path)
            for index in one.indexes
            if index.definition.is_local == bool(start)
            and (path := ordered_path(index.definition, self._conditions, self.order, start)) is not None
        ]
        return max(found, key=_usefulness, default=None)

    def want(self, one: Slice) -> None:
        """Request the index that would have avoided a scan."""
        start = _start(one.scope)
        parts = wanted_parts(self._conditions, self.order)
        if start is not None and parts:
            one.partition.want_index(IndexDefinition(parts, is_local=bool(start)))

    def _lookup(self, one: Slice, options: list[tuple[StoredIndex, list[EntryRange]]]) -> EntryLookup:
        query = frozenset(self._conditions.items()), tuple(index.id for index, _ in options)
        return self._lookups.find(one, query, lambda: EntryLookup(options, one.lsn))

    def _is_one_entry(self, index: StoredIndex) -> bool:
        parts = index.definition.parts
        points = self._conditions[parts[0].path].points
        return len(parts) == 1 and points is not None and len(points) == 1

    def _options(self, one: Slice) -> list[tuple[StoredIndex, list[EntryRange]]]:
        indexes = one.indexes
        if not indexes or (start := _start(one.scope)) is None or not self._conditions:
            return []
        found = [
            (index, ranges)
            for index in indexes
            if index.definition.is_local == bool(start)
            and (ranges := stretches_of(index.definition, self._conditions, start)) is not None
        ]
        # Longest bounds first: they cover the most conditions.
        found.sort(key=lambda option: max((len(low) for low, _ in option[1]), default=0), reverse=True)
        return found


def _usefulness(access: OrderedAccess) -> tuple[bool, int]:
    path = access.path
    return path.is_complete, max((len(stretch.prefix) for stretch in path.stretches), default=0)


def _start(scope: ItemScope) -> bytes | None:
    """Return the prefix of the scope's entries; None if no index stores them contiguously."""
    if scope.key is not None:
        return local_prefix(scope.key.epk)
    if scope.range is None:
        return b""
    # A query that pins the partition key reads the range of a single EPK.
    return local_prefix(scope.range.start) if scope.range.end == scope.range.start + "0" else None
