"""Time to live: an expired item is gone at once, whether or not it has been purged."""

from __future__ import annotations

from typing import Any

import pytest
from azure.cosmos import PartitionKey
from azure.cosmos.aio import ContainerProxy, DatabaseProxy
from tests.clock import Clock
from tests.raw_client import RawClient
from tests.refusals import refused


async def ids(container: ContainerProxy) -> list[str]:
    return sorted([item["id"] async for item in container.read_all_items()])


@pytest.mark.parametrize(
    ("default", "expected"), [(None, ["five", "never", "plain"]), (-1, ["never", "plain"]), (8, ["never"])]
)
async def test_the_containers_default_decides_which_items_expire(
    database: DatabaseProxy, clock: Clock, default: int | None, expected: list[str]
) -> None:
    container = await database.create_container("ttl", PartitionKey("/pk"), default_ttl=default)
    await container.create_item({"id": "plain", "pk": "p"})
    await container.create_item({"id": "five", "pk": "p", "ttl": 5})
    await container.create_item({"id": "never", "pk": "p", "ttl": -1})

    clock.advance(10)

    assert await ids(container) == expected


async def test_an_expired_item_is_nowhere_and_its_id_is_free(database: DatabaseProxy, clock: Clock) -> None:
    container = await database.create_container("ttl", PartitionKey("/pk"), default_ttl=5)
    await container.create_item({"id": "a", "pk": "p"})
    clock.advance(4)
    assert await ids(container) == ["a"]

    clock.advance(1)

    with refused(404):
        await container.read_item("a", "p")
    with refused(404):
        await container.delete_item("a", "p")
    query = container.query_items("SELECT VALUE COUNT(1) FROM c", partition_key="p")
    assert [one async for one in query] == [0]
    assert [one async for one in container.query_items_change_feed(start_time="Beginning")] == []
    await container.create_item({"id": "a", "pk": "p", "again": True})
    assert (await container.read_item("a", "p"))["again"]


async def test_a_write_starts_the_time_again(database: DatabaseProxy, clock: Clock) -> None:
    container = await database.create_container("ttl", PartitionKey("/pk"), default_ttl=5)
    await container.create_item({"id": "a", "pk": "p"})
    clock.advance(4)
    await container.patch_item("a", "p", [{"op": "set", "path": "/n", "value": 1}])
    clock.advance(4)

    assert await ids(container) == ["a"]


async def test_a_new_default_concerns_the_items_that_are_there(database: DatabaseProxy, clock: Clock) -> None:
    container = await database.create_container("ttl", PartitionKey("/pk"))
    await container.create_item({"id": "plain", "pk": "p"})
    await container.create_item({"id": "long", "pk": "p", "ttl": 100})
    clock.advance(10)

    await database.replace_container(container, PartitionKey("/pk"), default_ttl=5)

    assert await ids(container) == ["long"]


@pytest.mark.parametrize("ttl", [0, None, -2, "5", 1.5, True, 2147483648])
async def test_a_ttl_that_means_nothing_is_refused(container: ContainerProxy, raw: RawClient, ttl: Any) -> None:
    answer = await raw.send(
        "POST",
        "/dbs/db/colls/items/docs",
        kind="docs",
        link="dbs/db/colls/items",
        body={"id": "a", "pk": "p", "ttl": ttl},
        headers={"x-ms-documentdb-partitionkey": '["p"]'},
    )

    assert answer.status == 400
