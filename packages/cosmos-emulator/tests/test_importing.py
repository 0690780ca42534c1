"""`cosmos-emulator import` bulk-loads items from files."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from azure.cosmos.aio import ContainerProxy, CosmosClient
from cosmos_emulator import EmulatorSettings
from cosmos_emulator.__main__ import main
from tests.emulator_client import emulator_client
from tests.errors import fails_with

DEFINITION = {
    "partitionKey": {"paths": ["/pk"]},
    "defaultTtl": -1,
    "uniqueKeyPolicy": {"uniqueKeys": [{"paths": ["/name"]}]},
    "indexingPolicy": {"includedPaths": [{"path": "/n/?"}], "excludedPaths": [{"path": "/*"}]},
}


def _import(directory: Path, items: list[dict[str, Any]]) -> int:
    file, definition = directory / "items.jsonl", directory / "definition.json"
    file.write_text("\n".join(map(json.dumps, items)))
    definition.write_text(json.dumps(DEFINITION))
    names = ["--database", "db", "--container", "items", "--definition", str(definition)]
    return main(["import", "--data-dir", str(directory / "data"), *names, str(file)])


def _items(count: int, first: int = 0) -> list[dict[str, Any]]:
    return [
        {"id": str(number), "pk": f"p{number % 7}", "n": number, "name": f"name {number}"}
        for number in range(first, first + count)
    ]


def _container(client: CosmosClient) -> ContainerProxy:
    return client.get_database_client("db").get_container_client("items")


async def test_imported_items_behave_like_created_items(tmp_path: Path) -> None:
    items = _items(200)
    expiring = {"id": "expiring", "pk": "p", "n": -1, "name": "expiring", "ttl": 1}

    assert await asyncio.to_thread(_import, tmp_path, [*items, expiring]) == 0

    settings = EmulatorSettings(data_dir=tmp_path / "data")
    now = settings.clock()
    settings.clock = lambda: now + 60
    async with emulator_client(settings) as client:
        container = _container(client)
        read = await container.read_item("3", "p3")
        assert {name: read[name] for name in items[3]} == items[3]
        found = [item async for item in container.query_items("SELECT VALUE c.n FROM c WHERE c.n >= 190")]
        assert sorted(found) == list(range(190, 200))
        changes = [item async for item in container.query_items_change_feed(start_time="Beginning")]
        assert sorted(item["n"] for item in changes) == list(range(200))
        assert len({item["_etag"] for item in changes}) == len({item["_rid"] for item in changes}) == 200
        with fails_with(404):
            await container.read_item("expiring", "p")
        with fails_with(409):
            await container.create_item({"id": "new", "pk": "p3", "name": "name 3"})
        await container.create_item({"id": "new", "pk": "p3", "name": "new"})


def test_a_second_import_adds_to_the_first(tmp_path: Path) -> None:
    assert _import(tmp_path, _items(10)) == 0

    assert _import(tmp_path, _items(10, first=10)) == 0


@pytest.mark.parametrize(
    ("invalid", "reason"),
    [
        ({"id": "0", "pk": "p0"}, "has the id of another item"),
        ({"id": "other", "pk": "p0", "name": "name 0"}, "Unique index constraint violation"),
        ({"pk": "p0"}, "id"),
        ({"id": "other", "pk": []}, "Line 11: A partition key value must be"),
    ],
)
def test_an_invalid_line_stops_the_import_with_its_reason(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], invalid: dict[str, Any], reason: str
) -> None:
    items = [{**item, "pk": "p0"} for item in _items(10)]

    assert _import(tmp_path, [*items, invalid]) == 1

    assert reason in capsys.readouterr().err
