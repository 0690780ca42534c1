"""The index entries that an ORDER BY passes over.

The service reads the index of the order from its start, or from where a filter on the first paths of ORDER BY lets it
seek, and skips the entries that other filters exclude (learn.microsoft.com/azure/cosmos-db/index-policy, "Queries with
a filter and ORDER BY"). This emulator may use a better index, but counts what the service would read.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from cosmos_emulator.query import JsonOrUndefined, Predicate
from cosmos_emulator.reads.entry_access import LONG_SCAN, IndexAccess, Order
from cosmos_emulator.reads.entry_ranges import IndexOrder, conditions_of, ordered_path
from cosmos_emulator.reads.paging import Steps, item_chunks
from cosmos_emulator.reads.slices import Slice
from cosmos_emulator.store.index_definition import IndexDefinition, IndexPart, Names
from cosmos_emulator.store.items import EntryRange

Values = Mapping[Names, JsonOrUndefined]


class PassedEntries:
    """Counts the entries for one query, whose conditions `served` an index can serve."""

    def __init__(self, served: Sequence[Predicate], order: Order) -> None:
        paths = {path for path, _ in order}
        sought = [one for one in served if one.path in paths]
        self._conditions = conditions_of(sought)
        self._access = IndexAccess(sought, order)
        self.order = order
        covered = self._covered()
        # Without an order, no index is read in order.
        self.is_empty = not order or all(one.path in covered and conditions_of([one]) for one in served)

    def read(self, slices: list[Slice], first: Values | None, last: Values | None) -> Steps[int]:
        """Return the number of entries from the first values to the last, both included; None is an end."""
        count = 0
        for one in slices:
            count += yield from self._read(one, first, last)
        return count

    def _read(self, one: Slice, first: Values | None, last: Values | None) -> Steps[int]:
        access = self._access.ordered(one)
        if access is not None and access.path.is_complete:
            return one.items.count_entries(access.index, _ranges(access.path, first, last))
        definition = IndexDefinition(tuple(IndexPart(path, descending) for path, descending in self.order), False)
        path = ordered_path(definition, self._conditions, self.order, b"")
        if path is None:  # the filter fixes every path of ORDER BY
            return 0
        ranges = _ranges(path, first, last)
        count = scanned = 0
        for _, chunk in item_chunks([one], None):
            entries = [definition.entry(item.epk, item.document()) for item in chunk]
            count += sum(any(low <= entry < high for low, high in ranges) for entry in entries)
            scanned += len(chunk)
            yield
        if scanned >= LONG_SCAN:
            self._access.want(one)
        return count

    def _covered(self) -> set[Names]:
        """Return the paths whose conditions decide where to seek: single values, then one interval."""
        covered: set[Names] = set()
        for path, _ in self.order:
            covered.add(path)
            if path not in self._conditions or self._conditions[path].points is None:
                break
        return covered


def _ranges(path: IndexOrder, first: Values | None, last: Values | None) -> list[EntryRange]:
    rest = path if first is None else path.resumed(first)
    read = rest if last is None else rest.until(last)
    return [stretch.entries for stretch in read.stretches]
