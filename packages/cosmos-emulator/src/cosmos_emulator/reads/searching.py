"""The items that a search finds, and their order (search/)."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from cosmos_emulator import json_text
from cosmos_emulator.json_text import JsonObject
from cosmos_emulator.reads.paging import Fetch
from cosmos_emulator.reads.slices import Slice
from cosmos_emulator.runtime.pacing import checkpoint
from cosmos_emulator.search.functions import missing_packages
from cosmos_emulator.search.queries import Search
from cosmos_emulator.store.items import ItemScope, StoredItem

if TYPE_CHECKING:
    from cosmos_emulator.search.ranking import Part, Ranker
    from cosmos_emulator.search.search_indexes import SearchIndexes

_FIRST_CHUNK: Final = 16  # items
_CHUNK: Final = 256


class KeptSearchIndexes:
    """The indexes of an emulator, in memory from the first search on."""

    def __init__(self) -> None:
        self._indexes: SearchIndexes | None = None

    def get(self) -> SearchIndexes:
        """Return the indexes. Raises 400 without the packages that they need."""
        if self._indexes is None:
            try:  # optional, and slow to import
                from cosmos_emulator.search.search_indexes import SearchIndexes
            except ModuleNotFoundError as error:
                raise missing_packages() from error
            self._indexes = SearchIndexes()
        return self._indexes

    def clear(self) -> None:
        """Forget all indexes."""
        self._indexes = None


class Searcher:
    """Runs the search of one query, in a worker thread."""

    def __init__(self, search: Search, kept: KeptSearchIndexes | None) -> None:
        self._search = search
        self._kept = kept or KeptSearchIndexes()

    @property
    def is_ordered(self) -> bool:
        """Whether the search determines the order of the items."""
        return self._search.order is not None

    def statistics(self, slices: Sequence[Slice]) -> bytes | None:
        """Return the only row if the query is for the statistics of texts."""
        if self._search.statistics is None:
            return None
        return json_text.dump(self._ranker().statistics(list(map(_part, slices)), self._search.statistics))

    def candidates(self, one: Slice) -> Fetch | None:
        """Return how to fetch the items that have the wanted texts, in scan order; None if the search names none."""
        bounds = one.scope.range
        # The items of a range are in the order of their EPKs, unless they all have the same.
        if self._search.condition is None or (bounds is not None and bounds.end != f"{bounds.start}0"):
            return None
        return _NumberedItems(one, self._ranker().matches(_part(one), self._search.condition).tolist())

    def chunks(
        self,
        slices: Sequence[Slice],
        matches: Callable[[JsonObject], bool] | None,
        numbers: Sequence[set[int] | None],
    ) -> Iterator[tuple[Slice, list[StoredItem]]]:
        """Yield the items in the order of the search.

        `matches` is WHERE, on which fused ranks depend. `numbers` are, for each slice, of all matches, if known.
        """

        def matching(place: int, numbers: Sequence[int]) -> set[int]:
            found: set[int] = set()
            for start in range(0, len(numbers), _CHUNK):
                for item in slices[place].items.load(slices[place].scope, numbers[start : start + _CHUNK]):
                    checkpoint()
                    if matches is not None and matches(item.document()):
                        found.add(item.number)
            return found

        order, condition = self._search.order, self._search.condition
        assert order is not None  # noqa: S101 - by `is_ordered`
        ranker = self._ranker()
        parts = list(map(_part, slices, numbers))
        found = ranker.order(parts, order, condition, matching if matches else None)
        size = _FIRST_CHUNK
        while found:
            checkpoint()
            chunk, found = found[:size], found[size:]
            loaded = {
                (place, item.number): item
                for place in {place for place, _ in chunk}
                for item in slices[place].items.load(
                    slices[place].scope, [number for other, number in chunk if other == place]
                )
            }
            for key in chunk:
                if key in loaded:  # it can have expired
                    yield slices[key[0]], [loaded[key]]
            size = min(2 * size, _CHUNK)

    def _ranker(self) -> Ranker:
        indexes = self._kept.get()
        from cosmos_emulator.search.ranking import Ranker

        return Ranker(indexes)


@dataclass(frozen=True, slots=True)
class _NumberedItems:
    """Fetches the items of a slice with these numbers, in scan order."""

    one: Slice
    numbers: Sequence[int]

    def __call__(self, after: int, limit: int) -> list[StoredItem]:
        """Implement `paging.Fetch`."""
        start = bisect_right(self.numbers, after)
        while chosen := self.numbers[start : start + min(limit, _CHUNK)]:
            checkpoint()
            if found := self.one.items.load(self.one.scope, chosen):
                return found
            start += len(chosen)
        return []


def _part(one: Slice, numbers: set[int] | None = None) -> Part:
    from cosmos_emulator.search.ranking import Part
    from cosmos_emulator.search.search_indexes import Items

    items, scope = one.items, one.scope

    def load(numbers: Sequence[int]) -> Iterator[tuple[int, str, str, JsonObject]]:
        return ((item.number, item.key, item.epk, item.document()) for item in items.load(ItemScope(), numbers))

    state = Items(one.partition, one.lsn, items.numbers, items.numbers_since, load)
    key = None if scope.key is None else scope.key.text
    return Part(state, key, None if scope.range is None else (scope.range.start, scope.range.end), numbers)
