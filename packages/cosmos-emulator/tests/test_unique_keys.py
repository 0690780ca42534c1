"""Unique keys: per logical partition, on every kind of write."""

from __future__ import annotations

import pytest
from azure.cosmos import PartitionKey
from azure.cosmos.aio import ContainerProxy, DatabaseProxy
from tests.clock import Clock
from tests.refusals import refused


@pytest.fixture
async def unique(database: DatabaseProxy) -> ContainerProxy:
    policy = {"uniqueKeys": [{"paths": ["/name", "/place/city"]}, {"paths": ["/number"]}]}
    return await database.create_container("unique", PartitionKey("/pk"), unique_key_policy=policy, default_ttl=-1)


async def test_a_violation_is_refused_on_create_upsert_replace_and_patch(unique: ContainerProxy) -> None:
    await unique.create_item({"id": "a", "pk": "p", "name": "Ann", "place": {"city": "Bonn"}, "number": 1})
    other = {"id": "b", "pk": "p", "name": "Ann", "place": {"city": "Bonn"}, "number": 2}

    with refused(409):
        await unique.create_item(other)
    with refused(409):
        await unique.upsert_item(other)
    await unique.create_item({**other, "name": "Bob"})
    with refused(409):
        await unique.replace_item("b", other)
    with refused(409):
        await unique.patch_item("b", "p", [{"op": "set", "path": "/number", "value": 1}])
    assert (await unique.read_item("b", "p"))["name"] == "Bob"


async def test_missing_values_collide_as_null(unique: ContainerProxy) -> None:
    await unique.create_item({"id": "a", "pk": "p", "number": 1})

    with refused(409):
        await unique.create_item({"id": "b", "pk": "p", "name": None, "number": 2})


async def test_another_logical_partition_is_free(unique: ContainerProxy) -> None:
    await unique.create_item({"id": "a", "pk": "p", "number": 1})
    await unique.create_item({"id": "a", "pk": "q", "number": 1})


async def test_a_value_is_free_again_after_delete_change_and_expiry(unique: ContainerProxy, clock: Clock) -> None:
    await unique.create_item({"id": "a", "pk": "p", "number": 1, "name": "a"})
    await unique.upsert_item({"id": "a", "pk": "p", "number": 2, "name": "a"})
    await unique.create_item({"id": "b", "pk": "p", "number": 1, "name": "b", "ttl": 5})
    await unique.delete_item("a", "p")
    await unique.create_item({"id": "c", "pk": "p", "number": 2, "name": "c"})

    clock.advance(5)

    await unique.create_item({"id": "d", "pk": "p", "number": 1, "name": "d"})
    assert [item["id"] async for item in unique.read_all_items()] == ["c", "d"]


async def test_an_item_may_keep_its_own_values(unique: ContainerProxy) -> None:
    await unique.create_item({"id": "a", "pk": "p", "number": 1})

    await unique.upsert_item({"id": "a", "pk": "p", "number": 1, "other": True})
