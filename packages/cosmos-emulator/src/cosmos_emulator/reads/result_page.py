"""A page of a query while it is being filled."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from cosmos_emulator.errors import CosmosError
from cosmos_emulator.json_text import Json, JsonObject
from cosmos_emulator.query import Predicate
from cosmos_emulator.reads.entry_access import IndexAccess
from cosmos_emulator.reads.paging import Fetch, ItemPosition, PageLimits, item_chunks, malformed_continuation
from cosmos_emulator.reads.searching import Searcher
from cosmos_emulator.reads.slices import Slice
from cosmos_emulator.runtime.pacing import checkpoint
from cosmos_emulator.store.items import StoredItem

_ITEMS_PER_CHECKPOINT: Final = 16


@dataclass(slots=True)
class QueryPage:
    """The page. Its charge depends on the `loaded` items, those that no index rules out by the `served` conditions.

    `scanned` counts the items read, `scans` are the slices read without an index, `passed_entries` the entries of an
    index that an ORDER BY passes over.
    """

    served: Sequence[Predicate] = ()
    rows: list[bytes] = field(default_factory=list)
    continuation: str | None = None
    charge_ru: float = 0.0
    scanned: int = 0
    scans: list[Slice] = field(default_factory=list)
    loaded: int = 0
    loaded_bytes: int = 0
    passed_entries: int = 0

    def load(self, item: StoredItem) -> JsonObject | None:
        """Count an item and return its document; None if an index rules it out, so that it has no rows."""
        if self.scanned % _ITEMS_PER_CHECKPOINT == 0:
            checkpoint()
        self.scanned += 1
        document = item.document()
        for predicate in self.served:
            if not predicate.test([document]):
                return None
        self.loaded += 1
        self.loaded_bytes += len(item.body)
        return document

    def reduce_load(self, items: int) -> None:
        """Reduce the loaded items to those that were actually needed, at their mean size."""
        if items < self.loaded:
            self.loaded_bytes = self.loaded_bytes * items // self.loaded
            self.loaded = items


@dataclass(slots=True)
class Reading:
    """One attempt to fill a page from `token`; `access` None scans without indexes.

    `searcher` belongs to a query that searches, `matches` is its WHERE, or None.
    """

    page: QueryPage
    slices: list[Slice]
    token: JsonObject
    limits: PageLimits
    access: IndexAccess | None
    searcher: Searcher | None = None
    matches: Callable[[JsonObject], bool] | None = None

    @property
    def given(self) -> int:
        """The number of rows on earlier pages. Raises 400 for a malformed token."""
        given = self.token.get("given", 0)
        is_wrong = self.token and "given" not in self.token
        if is_wrong or not isinstance(given, int) or not 0 <= given <= sys.maxsize:  # the limit of islice
            raise malformed_continuation()
        if given and self.token.get("after") is None and self.token.get("ranges", self._ranges) != self._ranges:
            raise CosmosError(400, "The query cannot continue, because its partition was split; start it again.")
        return given

    def counted(self, given: int) -> JsonObject:
        """Return a continuation after a number of rows, which only the same partitions can skip."""
        return {"given": given, "ranges": self._ranges}

    @property
    def _ranges(self) -> list[Json]:
        # A split moves a logical partition as a whole.
        return [one.partition.id for one in self.slices if one.scope.key is None]

    def chunks(self, start: ItemPosition | None = None) -> Iterator[tuple[Slice, list[StoredItem]]]:
        """Yield the items to read, in the order of the scan or of the search."""
        if self.searcher is not None and self.searcher.is_ordered:
            return self.searcher.chunks(self.slices, self.matches, [self._numbers(one) for one in self.slices])
        return item_chunks(self.slices, start, self._candidates)

    def _numbers(self, one: Slice) -> set[int] | None:
        found = None if self.access is None else self.access.numbers(one)
        if found is None:
            self.page.scans.append(one)
        return found

    def _candidates(self, one: Slice) -> Fetch | None:
        found = None if self.searcher is None else self.searcher.candidates(one)
        if found is None and self.access is not None:
            found = self.access.candidates(one)
        if found is None:
            self.page.scans.append(one)
        return found
