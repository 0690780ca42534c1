"""Queries between their pages.

A query with DISTINCT, GROUP BY, aggregates, TOP or OFFSET cannot resume at an item. Some unfinished ones are kept, so
that each page continues where the page before ended. Others, such as after a restart, run again and skip earlier rows.
"""

from __future__ import annotations

import asyncio
import secrets
from collections import OrderedDict
from collections.abc import Hashable, Iterator
from itertools import chain, islice

from cosmos_emulator import json_text
from cosmos_emulator.json_text import Json, JsonObject
from cosmos_emulator.query import CompiledQuery
from cosmos_emulator.query.sizes import MAX_KEPT
from cosmos_emulator.reads.entry_lookup import KeptLookups
from cosmos_emulator.reads.page_work import PageWork
from cosmos_emulator.reads.paging import PageLimits
from cosmos_emulator.reads.result_page import QueryPage, Reading
from cosmos_emulator.reads.searching import KeptSearchIndexes

MOST = 32
"""Unfinished queries that an emulator keeps."""

MOST_BYTES = 2 * MAX_KEPT
"""About how much memory their rows and groups use together."""

KEPT_S = 300.0
"""The time for which they are kept."""


class UnfinishedQuery:
    """The rows of a query that earlier pages did not return; `in_worker` if its slices belong to a worker thread."""

    def __init__(self, compiled: CompiledQuery, reading: Reading) -> None:
        self.id = ""
        self.given = reading.given
        self.in_worker = False
        self.reading = reading
        self._compiled = compiled
        self._rows = map(json_text.dump, islice(compiled.run(self._documents()), self.given, None))
        self._held: list[bytes] = []  # did not fit on the last page

    @property
    def size_bytes(self) -> int:
        """About how much memory the rows and groups use."""
        return self._compiled.kept_bytes

    def fill(self, page: QueryPage, limits: PageLimits) -> bool:
        """Add rows to a page; return whether rows remain."""
        self.reading.page = page
        held, self._held = self._held, []
        for text in chain(held, self._rows):
            if not limits.admit(len(text)):
                self.id, self._held = secrets.token_hex(8), [text]
                return True
            page.rows.append(text)
            self.given += 1
        return False

    def _documents(self) -> Iterator[JsonObject]:
        reading = self.reading
        for _, chunk in reading.chunks():
            for item in chunk:
                if (document := reading.page.load(item)) is not None:
                    yield document


Unfinished = UnfinishedQuery | PageWork[tuple[QueryPage, UnfinishedQuery | None]]


class UnfinishedQueries:
    """The queries that were continued or started last; used on the event loop."""

    def __init__(self) -> None:
        self._kept: OrderedDict[str, tuple[Unfinished, Hashable]] = OrderedDict()
        self.lookups = KeptLookups()
        self.search_indexes = KeptSearchIndexes()

    def keep(self, query: Unfinished, identity: Hashable) -> None:
        """Keep a query for its next page. Only a request with the same identity continues it."""
        if isinstance(query, UnfinishedQuery):
            query.reading.page = QueryPage()  # the rows of the last page can be 4 MB
        self._kept[query.id] = query, identity
        asyncio.get_running_loop().call_later(KEPT_S, self._forget, query.id)
        while len(self._kept) > MOST or sum(one.size_bytes for one, _ in self._kept.values()) > MOST_BYTES:
            self._forget(next(iter(self._kept)))

    def take(self, query_id: Json, identity: Hashable) -> Unfinished | None:
        """Return a kept query and forget it, because its rows are returned once."""
        query, known = self._kept.get(str(query_id), (None, None))
        if query is None or known != identity:
            return None
        del self._kept[query.id]
        return query

    def forget_all(self) -> None:
        """Forget all queries."""
        self.search_indexes.clear()
        while self._kept:
            self._forget(next(iter(self._kept)))

    def _forget(self, query_id: str) -> None:
        query, _ = self._kept.pop(query_id, (None, None))
        if isinstance(query, PageWork):
            query.close()
