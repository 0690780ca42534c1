"""One page of a query with a plain ORDER BY: along an index in that order, or by sorting all matches."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

from cosmos_emulator import json_text
from cosmos_emulator.json_text import JsonObject
from cosmos_emulator.query import UNDEFINED, CompiledQuery, JsonOrUndefined, OrderedItems, OrderPosition
from cosmos_emulator.reads.entry_access import Order, OrderedAccess
from cosmos_emulator.reads.paging import STEP, Steps, encode_continuation, malformed_continuation
from cosmos_emulator.reads.passed_entries import PassedEntries
from cosmos_emulator.reads.result_page import Reading
from cosmos_emulator.store.index_definition import Names
from cosmos_emulator.store.items import StoredItem

# Clients read headers of up to 8 KB. If a position has long strings, the token has a row count instead.
_MAX_CONTINUATION: Final = 4096


class OrderedPage:
    """Fills one page in the order of the query."""

    def __init__(self, query: CompiledQuery, reading: Reading) -> None:
        self._query = query
        self._reading = reading
        self._matches = query.matcher()
        self._page = reading.page
        self._given = reading.given
        after = reading.token.get("after")
        if after is not None and not isinstance(after, dict):
            raise malformed_continuation()
        self._after: OrderPosition | None = after
        self._to_skip = self._given if after is None else 0
        self._rows: OrderedItems = query.ordered_rows(after, reading.limits.max_rows + 1 + self._to_skip)
        self._position: JsonObject | None = None
        self.matched = 0  # items that satisfy WHERE

    def passed_over(self, entries: PassedEntries) -> Steps[int]:
        """Return how many index entries the page passed over."""
        end, is_done = self._position, self._rows.is_done
        if entries.is_empty or (end is None and is_done):
            return 0
        is_cut = is_done or self._page.continuation is not None
        count = yield from entries.read(
            self._reading.slices,
            self._first_values(entries.order),
            _values_of(end, entries.order) if end is not None and is_cut else None,
        )
        # A page that resumes reads the last entry of the page before again.
        before = self._given + self._query.counts.skipped if self._after is None else 1
        return max(0, count - len(self._page.rows) - before)

    def fill(self) -> Steps[None]:
        """Read until the page is full or nothing is left."""
        if not self._query.features.has_from:
            return
        walk = self._walk()
        if walk is None:
            yield from self._sort()
        else:
            yield from self._follow(walk)

    def _walk(self) -> OrderedAccess | None:
        access, slices = self._reading.access, self._reading.slices
        walk = access.ordered(slices[0]) if access is not None and len(slices) == 1 else None
        if walk is None or access is None or access.finds_few(slices[0], walk):
            return None
        first = self._first_values(access.order)
        return walk if first is None else walk.resumed(first)

    def _first_values(self, order: Order) -> dict[Names, JsonOrUndefined] | None:
        """Return the values with which the page starts; None at the start of the order."""
        if self._after is not None:
            return _values_of(self._after, order)
        first = self._query.first_values
        return None if first is None else {path: value for (path, _), value in zip(order, first, strict=True)}

    def _sort(self) -> Steps[None]:
        for _, chunk in self._reading.chunks():
            for start in range(0, len(chunk), STEP):
                self._add(chunk[start : start + STEP])
                yield
        self._emit()

    def _follow(self, walk: OrderedAccess) -> Steps[None]:
        since_pause = 0
        for block in _blocks(walk.items()):
            self._add(block.items)
            if block.is_last and not self._emit():
                return
            since_pause += len(block.items)
            if since_pause >= STEP:
                since_pause = 0
                yield

    def _add(self, items: list[StoredItem]) -> None:
        documents = (document for item in items if (document := self._page.load(item)) is not None)
        if matching := list(filter(self._matches, documents)):
            self.matched += len(matching)
            self._rows.add(matching)

    def _emit(self) -> bool:
        """Add the finished rows to the page; returns whether it has room for more."""
        page, limits = self._page, self._reading.limits
        for row, position in self._rows.finished():
            if self._to_skip:
                self._to_skip -= 1
                continue
            text = json_text.dump(row)
            if not limits.admit(len(text)):
                page.continuation = _token(self._position, self._reading.counted(self._given + len(page.rows)))
                return False
            page.rows.append(text)
            self._position = position
        return not self._rows.is_done


class _Block(NamedTuple):
    items: list[StoredItem]
    is_last: bool


def _blocks(found: Iterator[tuple[bytes, StoredItem]]) -> Iterator[_Block]:
    items: list[StoredItem] = []
    present: bytes | None = None
    for place, item in found:
        if items and place != present:
            yield _Block(items, is_last=True)
            items = []
        elif len(items) == STEP:
            yield _Block(items, is_last=False)
            items = []
        items.append(item)
        present = place
    yield _Block(items, is_last=True)


def _values_of(position: OrderPosition, order: Order) -> dict[Names, JsonOrUndefined]:
    keys = position["keys"]
    values = [key.get("item", UNDEFINED) for key in keys if isinstance(key, dict)] if isinstance(keys, list) else []
    return {path: value for (path, _), value in zip(order, values, strict=True)}


def _token(position: JsonObject | None, counted: JsonObject) -> str:
    token = encode_continuation({"after": position, **counted})
    return token if len(token) <= _MAX_CONTINUATION else encode_continuation(counted)
