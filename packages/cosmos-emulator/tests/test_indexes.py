"""How many items queries read with indexes, and how indexes are built and dropped."""

from __future__ import annotations

import asyncio
import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from azure.cosmos import PartitionKey
from azure.cosmos.aio import ContainerProxy, CosmosClient
from cosmos_emulator import EmulatorSettings
from cosmos_emulator.__main__ import main
from cosmos_emulator.reads import entry_access
from tests.emulator_client import emulator_client
from tests.reads import counted_reads

COUNT = 3000
NAMED = {
    "includedPaths": [{"path": "/kind/?"}, {"path": "/n/?"}],
    "excludedPaths": [{"path": "/*"}],
    "compositeIndexes": [[{"path": "/n", "order": "descending"}, {"path": "/id", "order": "descending"}]],
}
BY_KIND = {
    "includedPaths": [{"path": "/kind/?"}, {"path": "/n/?"}],
    "excludedPaths": [{"path": "/*"}],
    "compositeIndexes": [[{"path": f"/{name}", "order": "descending"} for name in ("kind", "n", "id")]],
}
NO_PATHS = {"includedPaths": [], "excludedPaths": [{"path": "/*"}]}
ALL_PATHS = {"includedPaths": [{"path": "/*"}], "excludedPaths": []}
NEWEST = "SELECT * FROM c WHERE c.kind = 'rare' ORDER BY c.n DESC, c.id DESC OFFSET 0 LIMIT 3"
FEW = "SELECT * FROM c WHERE c.n < 3"


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A JSON Lines file of one logical partition. The first ten items are of kind `rare`."""
    directory = tmp_path_factory.mktemp("data")
    lines = ({"id": str(n), "pk": "p", "n": n, "kind": "rare" if n < 10 else "usual"} for n in range(COUNT))
    (directory / "items.jsonl").write_text("\n".join(map(json.dumps, lines)))
    return directory


def _import(data: Path, directory: Path, policy: dict[str, Any]) -> EmulatorSettings:
    definition = directory / "definition.json"
    definition.write_text(json.dumps({"partitionKey": {"paths": ["/pk"], "version": 2}, "indexingPolicy": policy}))
    names = ["--database", "db", "--container", "items", "--definition", str(definition), "--partitions", "1"]
    assert main(["import", "--data-dir", str(directory / "data"), *names, str(data / "items.jsonl")]) == 0
    return EmulatorSettings(data_dir=directory / "data")


async def _rows_and_reads(container: ContainerProxy, query: str) -> tuple[list[int], int]:
    """Return `n` of each row, and the number of items that the query read."""
    with counted_reads() as reads:
        found = [item["n"] async for item in container.query_items(query, partition_key="p")]
    return found, len(reads)


@pytest.mark.parametrize(
    ("query", "found"),
    [
        (NEWEST, [9, 8, 7]),
        (NEWEST.replace("= 'rare'", "IN ('rare', 'none') AND c.n <= 5 AND (c.n < 5 OR c.id < '5')"), [4, 3, 2]),
        (NEWEST.replace("DESC", "ASC"), [0, 1, 2]),
        ("SELECT * FROM c ORDER BY c.n DESC OFFSET 1 LIMIT 2", [COUNT - 2, COUNT - 3]),
        (FEW, [0, 1, 2]),
        ("SELECT * FROM c WHERE c.kind = 'rare' AND c.n > 7", [8, 9]),
        ("SELECT * FROM c WHERE (c.n = 2 AND c.id = '2') OR (c.n = 7 AND c.id = '7')", [2, 7]),
    ],
)
async def test_an_indexed_query_reads_few_more_items_than_it_returns(
    data: Path, tmp_path: Path, query: str, found: list[int]
) -> None:
    settings = await asyncio.to_thread(_import, data, tmp_path, NAMED)

    async with emulator_client(settings) as client:
        rows, count = await _rows_and_reads(_container(client), query)
        assert rows == found
        assert count <= len(found) + 3


@pytest.mark.parametrize(
    ("where", "found"),
    [
        ("c.kind = 'rare'", [9, 8, 7]),
        ("c.kind = 'rare' AND c.n <= 5 AND (c.n < 5 OR c.id < '5')", [4, 3, 2]),
        ("c.kind IN ('none', 'rare', 'vague')", [9, 8, 7]),
        ("c.kind IN ('none', 'rare', 'vague') AND c.n <= 5", [5, 4, 3]),
    ],
)
async def test_a_composite_index_that_starts_with_the_filter_seeks_to_it(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, where: str, found: list[int]
) -> None:
    monkeypatch.setattr(entry_access, "_FEW", 1)  # do not sort the matches
    settings = await asyncio.to_thread(_import, data, tmp_path, BY_KIND)
    query = NEWEST.replace("c.kind = 'rare'", where).replace("ORDER BY", "ORDER BY c.kind DESC,")

    async with emulator_client(settings) as client:
        rows, count = await _rows_and_reads(_container(client), query)
        assert rows == found
        assert count <= len(found) + 3
        headers: Any = _container(client).client_connection.last_response_headers
        assert float(headers["x-ms-request-charge"]) < 2.9


async def test_a_new_policy_builds_and_drops_indexes_in_the_background(data: Path, tmp_path: Path) -> None:
    settings = await asyncio.to_thread(_import, data, tmp_path, NO_PATHS)
    settings.lenient_order_by = True

    async with emulator_client(settings) as client:
        container = _container(client)
        assert await _rows_and_reads(container, NEWEST) == ([9, 8, 7], COUNT)

        await _replace_policy(client, NAMED)
        await _eventually_reads_few(container, NEWEST, [9, 8, 7])
        await container.delete_item("9", "p")
        await container.upsert_item({"id": "2999", "pk": "p", "n": 2999, "kind": "rare"})
        assert await _rows_and_reads(container, NEWEST) == ([2999, 8, 7], 3)

        await _replace_policy(client, NO_PATHS)
        assert await _rows_and_reads(container, NEWEST) == ([2999, 8, 7], COUNT - 1)


async def test_a_wildcard_path_is_indexed_after_a_slow_query(data: Path, tmp_path: Path) -> None:
    settings = await asyncio.to_thread(_import, data, tmp_path, ALL_PATHS)

    async with emulator_client(settings) as client:
        container = _container(client)
        assert await _rows_and_reads(container, FEW) == ([0, 1, 2], COUNT)
        await _eventually_reads_few(container, FEW, [0, 1, 2])
    async with emulator_client(settings) as client:
        assert await _rows_and_reads(_container(client), FEW) == ([0, 1, 2], 3)


async def test_opening_a_data_directory_without_indexes_builds_them(data: Path, tmp_path: Path) -> None:
    settings = await asyncio.to_thread(_import, data, tmp_path, NAMED)
    await asyncio.to_thread(_forget_indexes, tmp_path)

    async with emulator_client(settings) as client:
        await _eventually_reads_few(_container(client), NEWEST, [9, 8, 7])


def _forget_indexes(directory: Path) -> None:
    (file,) = directory.glob("data/*/0.sqlite")
    with closing(sqlite3.connect(file)) as connection:
        tables = connection.execute("SELECT name FROM sqlite_master WHERE name LIKE 'entries_%'").fetchall()
        for table in [*(name for (name,) in tables), "indexes"]:
            connection.execute(f"DROP TABLE {table}")


def _container(client: CosmosClient) -> ContainerProxy:
    return client.get_database_client("db").get_container_client("items")


async def _eventually_reads_few(container: ContainerProxy, query: str, found: list[int]) -> None:
    """Wait until an index serves the query. Its rows must not change."""
    async with asyncio.timeout(20):
        count = COUNT
        while count > len(found) + 3:
            rows, count = await _rows_and_reads(container, query)
            assert rows == found


async def _replace_policy(client: CosmosClient, policy: dict[str, Any]) -> None:
    database = client.get_database_client("db")
    await database.replace_container("items", PartitionKey("/pk"), indexing_policy=policy)
