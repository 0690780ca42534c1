"""Pages of a query that an index serves continue one search of the index."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest
from azure.cosmos import PartitionKey
from azure.cosmos.aio import ContainerProxy, DatabaseProxy
from cosmos_emulator.reads import entry_lookup
from cosmos_emulator.store.items import ItemView
from tests.reads import counted_reads

COUNT = 3000
FIRST = 500
PAGE = 100
BY_NUMBER = {"includedPaths": [{"path": "/n/?"}], "excludedPaths": [{"path": "/*"}]}
UPPER = f"SELECT VALUE c.id FROM c WHERE c.n >= {FIRST}"  # noqa: S608 - a constant


@pytest.fixture
def partitions() -> int:
    return 1


@pytest.fixture
async def indexed(database: DatabaseProxy) -> ContainerProxy:
    """A container with `n` from 0 to 2999, in this order, and an index of `n`."""
    container = await database.create_container("indexed", PartitionKey("/pk"), indexing_policy=BY_NUMBER)
    for first in range(0, COUNT, 100):
        batch = [("create", ({"id": str(n), "pk": "p", "n": n},)) for n in range(first, first + 100)]
        await container.execute_item_batch(batch, "p")
    return container


def _pages(container: ContainerProxy) -> AsyncIterator[AsyncIterator[Any]]:
    return container.query_items(UPPER, partition_key="p", max_item_count=PAGE).by_page()


async def _rest(pages: AsyncIterator[AsyncIterator[Any]]) -> list[str]:
    return [row async for page in pages async for row in page]


async def test_all_pages_read_each_entry_of_the_index_once(
    indexed: ContainerProxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    read = 0
    entries = ItemView.entries

    def counted(view: ItemView, *arguments: Any) -> Any:
        nonlocal read
        found = entries(view, *arguments)
        read += len(found[0])
        return found

    monkeypatch.setattr(ItemView, "entries", counted)

    assert await _rest(_pages(indexed)) == [str(n) for n in range(FIRST, COUNT)]
    assert read == COUNT - FIRST


async def test_the_first_page_does_not_scan_much_while_the_index_is_read(
    indexed: ContainerProxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(entry_lookup, "_BLOCK", 100)
    text = f"SELECT VALUE c.id FROM c WHERE c.n >= {COUNT - 1000}"  # noqa: S608 - a constant
    query = indexed.query_items(text, partition_key="p", max_item_count=PAGE)

    with counted_reads() as reads:
        found = [row async for row in await anext(query.by_page())]

    assert found == [str(n) for n in range(COUNT - 1000, COUNT - 1000 + PAGE)]
    assert PAGE <= len(reads) < COUNT / 3


async def test_changes_between_pages_are_seen(indexed: ContainerProxy) -> None:
    pages = _pages(indexed)
    found = [row async for row in await anext(pages)]
    await indexed.upsert_item({"id": "2000", "pk": "p", "n": 0})
    await indexed.delete_item("2001", "p")
    await indexed.upsert_item({"id": "new", "pk": "p", "n": COUNT})

    found += await _rest(pages)

    expected = [str(n) for n in range(FIRST, COUNT) if n not in (2000, 2001)]
    assert found == [*expected, "new"]


async def test_an_item_that_begins_to_match_between_pages_is_found(indexed: ContainerProxy) -> None:
    await indexed.upsert_item({"id": "late", "pk": "p", "n": 0})
    pages = _pages(indexed)
    found = [row async for row in await anext(pages)]
    await indexed.upsert_item({"id": "late", "pk": "p", "n": COUNT})

    found += await _rest(pages)

    assert found == [*(str(n) for n in range(FIRST, COUNT)), "late"]


async def test_a_query_continues_when_its_index_is_dropped(indexed: ContainerProxy, database: DatabaseProxy) -> None:
    pages = _pages(indexed)
    found = [row async for row in await anext(pages)]
    no_paths = {"includedPaths": [], "excludedPaths": [{"path": "/*"}]}
    await database.replace_container("indexed", PartitionKey("/pk"), indexing_policy=no_paths)

    found += await _rest(pages)

    assert found == [str(n) for n in range(FIRST, COUNT)]
