"""The lookup of indexes for the items of a query, which continues from page to page.

A lookup reads the numbers of the items in each index that narrows the query, some entries at a time, until one index
has no more. Items that were written since it began can be missing, so each page adds them.
"""

from __future__ import annotations

import threading
from array import array
from bisect import bisect_right
from collections import OrderedDict
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from typing import Final

from cosmos_emulator.reads.paging import Fetch
from cosmos_emulator.reads.slices import Slice
from cosmos_emulator.runtime.pacing import checkpoint
from cosmos_emulator.store.index_entries import StoredIndex
from cosmos_emulator.store.items import EntryPosition, EntryRange, ItemView, StoredItem

CHUNK: Final = 256
_MOST: Final = 65536  # numbers; beyond that, scanning is not much slower
_BLOCK: Final = 8192  # entries, in about 2 ms
_MEANWHILE: Final = 64  # items
_KEPT: Final = 32
_MOST_WRITTEN: Final = 1024


@dataclass(slots=True)
class IndexReading:
    """The numbers in ranges of an index as far as they were read, including expired items."""

    index: StoredIndex
    ranges: Sequence[EntryRange]
    numbers: list[int] = field(default_factory=list)
    _after: EntryPosition | None = None
    _done: int = 0  # ranges

    def read(self, items: ItemView, size: int) -> bool:
        """Read up to `size` more numbers; return whether these are all."""
        while size and self._done < len(self.ranges):
            low, high = self.ranges[self._done]
            found, self._after = items.entries(self.index, self._after or EntryPosition(low, -1), high, size)
            self.numbers += found
            if self._after is not None:
                return False
            size -= len(found)
            self._done += 1
        return self._done == len(self.ranges)


class EntryLookup:
    """The lookup for the items of a slice, which reads several indexes in parallel. Any thread can use it."""

    def __init__(self, options: Sequence[tuple[StoredIndex, Sequence[EntryRange]]], lsn: int) -> None:
        self.began = self.latest = lsn
        """The LSNs of the oldest and the latest state that was read."""
        self.numbers: Sequence[int] | None = None
        """The sorted numbers of all items, when they are known."""
        self._readings = [IndexReading(index, ranges) for index, ranges in options]
        self._lock = threading.Lock()

    @property
    def has_failed(self) -> bool:
        """Whether each index has too many entries."""
        return self.numbers is None and not self._readings

    def advance(self, one: Slice) -> None:
        """Read more entries, in turn from each index."""
        with self._lock:  # the event loop and a worker thread can run queries with the same conditions
            self.latest = max(self.latest, one.lsn)
            share = max(1, _BLOCK // max(1, len(self._readings)))
            complete = [reading for reading in self._readings if reading.read(one.items, share)]
            if complete:
                fewest = min(complete, key=lambda reading: len(reading.numbers))
                self.numbers = array("q", sorted(set(fewest.numbers)))
                self._readings = []
            else:
                self._readings = [reading for reading in self._readings if len(reading.numbers) < _MOST]


@dataclass(slots=True)
class FoundItems:
    """Fetches the items of a slice that a lookup finds, in scan order.

    Until it has found them, fetches some `otherwise`, so that a page that these fill does not wait for the lookup.
    """

    one: Slice
    lookup: EntryLookup
    otherwise: Fetch
    _written: list[int] | None = None

    def __call__(self, after: int, limit: int) -> list[StoredItem]:
        """Implement `paging.Fetch`."""
        if self.lookup.numbers is None:
            self.lookup.advance(self.one)
        if self.lookup.numbers is None:
            return self.otherwise(after, limit if self.lookup.has_failed else min(limit, _MEANWHILE))
        if self._written is None:
            self._written = sorted(self.one.items.numbers_since(self.lookup.began))
        while numbers := _following(after, min(limit, CHUNK), self.lookup.numbers, self._written):
            checkpoint()
            if found := self.one.items.load(self.one.scope, numbers):
                return found
            after = numbers[-1]
        return []


class KeptLookups:
    """The latest lookups of an emulator, for the next pages of their queries."""

    def __init__(self) -> None:
        self._kept: OrderedDict[Hashable, EntryLookup] = OrderedDict()

    def find(self, one: Slice, query: Hashable, begin: Callable[[], EntryLookup]) -> EntryLookup:
        """Return the lookup of a query in a slice: the one that was kept, or a new one if much was written since."""
        key = one.partition, one.scope, query
        found = self._kept.pop(key, None)
        if found is None or not _is_current(found, one):
            found = begin()
        self._kept[key] = found
        while len(self._kept) > _KEPT:
            self._kept.popitem(last=False)
        return found


def _is_current(lookup: EntryLookup, one: Slice) -> bool:
    """Return whether a lookup did not read states after the slice's (a lagging replica), or long before it."""
    return lookup.latest <= one.lsn and len(one.items.numbers_since(lookup.began, _MOST_WRITTEN)) < _MOST_WRITTEN


def _following(after: int, count: int, *sources: Sequence[int]) -> list[int]:
    """Return the first numbers after a number, of several sorted sequences."""
    found: set[int] = set()
    for numbers in sources:
        start = bisect_right(numbers, after)
        found.update(numbers[start : start + count])
    return sorted(found)[:count]
