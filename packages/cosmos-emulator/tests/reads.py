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
    document_of = QueryPage.document_of

    def counted(page: QueryPage, item: StoredItem) -> JsonObject:
        read.append(item)
        return document_of(page, item)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(QueryPage, "document_of", counted)
        yield read
