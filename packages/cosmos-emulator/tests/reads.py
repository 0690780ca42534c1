"""Counts the items that queries read."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from cosmos_emulator.json_text import JsonObject
from cosmos_emulator.reads.result_page import QueryPage
from cosmos_emulator.store.items import StoredItem


@contextmanager
def counted_reads() -> Iterator[list[StoredItem]]:
    """Yield a list of the items that queries read during the block."""
    read: list[StoredItem] = []
    load = QueryPage.load

    def counted(page: QueryPage, item: StoredItem) -> JsonObject | None:
        read.append(item)
        return load(page, item)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(QueryPage, "load", counted)
        yield read
