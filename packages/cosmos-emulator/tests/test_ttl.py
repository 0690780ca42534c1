"""Time to live: an expired item disappears immediately, even before it is purged."""

from __future__ import annotations

from typing import Any

import pytest
from azure.cosmos import PartitionKey
from azure.cosmos.aio import ContainerProxy, DatabaseProxy
from tests.clock import Clock
from tests.errors import fails_with
from tests.raw_client import RawClient


async def ids(container: ContainerProxy) -> list[str]:
    return sorted([item["id"] async for item in container.read_all_items()])


@pytest.mark.parametrize(
    ("default", "expected"), [(None, ["five", "never", "plain"]), (-1, ["never", "plain"]), (8, ["never"])]
)
async def test_the_default_ttl_determines_which_items_expire(
    database: DatabaseProxy, clock: Clock, default: int | None, expected: list[str]
) -> None:
    container = await database.create_container("ttl", PartitionKey("/pk"), default_ttl=default)
    await container.create_item({"id": "plain", "pk": "p"})
    await container.create_item({"id": "five", "pk": "p", "ttl": 5})
    await container.create_item({"id": "never", "pk": "p", "ttl": -1})

    clock.advance(10)

    assert await ids(container) == expected


async def test_an_expired_item_is_invisible_and_its_id_is_free(database: DatabaseProxy, clock: Clock) -> None:
    container = await database.create_container("ttl", PartitionKey("/pk"), default_ttl=5)
    await container.create_item({"id": "a", "pk": "p"})
    clock.advance(4)
    assert await ids(container) == ["a"]

    clock.advance(1)

    with fails_with(404):
        await container.read_item("a", "p")
    with fails_with(404):
        await container.delete_item("a", "p")
    query = container.query_items("SELECT VALUE COUNT(1) FROM c", partition_key="p")
    assert [count async for count in query] == [0]
    assert [item async for item in container.query_items_change_feed(start_time="Beginning")] == []
    await container.create_item({"id": "a", "pk": "p", "again": True})
    assert (await container.read_item("a", "p"))["again"]


async def test_a_write_restarts_the_ttl(database: DatabaseProxy, clock: Clock) -> None:
    container = await database.create_container("ttl", PartitionKey("/pk"), default_ttl=5)
    await container.create_item({"id": "a", "pk": "p"})
    clock.advance(4)
    await container.patch_item("a", "p", [{"op": "set", "path": "/n", "value": 1}])
    clock.advance(4)

    assert await ids(container) == ["a"]


async def test_a_new_default_ttl_applies_to_existing_items(database: DatabaseProxy, clock: Clock) -> None:
    container = await database.create_container("ttl", PartitionKey("/pk"))
    await container.create_item({"id": "plain", "pk": "p"})
    await container.create_item({"id": "long", "pk": "p", "ttl": 100})
    clock.advance(10)

    await database.replace_container(container, PartitionKey("/pk"), default_ttl=5)

    assert await ids(container) == ["long"]


@pytest.mark.parametrize("ttl", [0, None, -2, "5", 1.5, True, 2147483648])
async def test_an_invalid_ttl_is_rejected(container: ContainerProxy, raw: RawClient, ttl: Any) -> None:
    response = await raw.create_item({"id": "a", "pk": "p", "ttl": ttl})

    assert response.status == 400
