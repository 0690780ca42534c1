"""Unique keys, in each logical partition and for every kind of write."""

from __future__ import annotations

import pytest
from azure.cosmos import PartitionKey
from azure.cosmos.aio import ContainerProxy, DatabaseProxy
from tests.clock import Clock
from tests.errors import fails_with
from tests.raw_client import RawClient


@pytest.fixture
async def unique(database: DatabaseProxy) -> ContainerProxy:
    policy = {"uniqueKeys": [{"paths": ["/name", "/place/city"]}, {"paths": ["/number"]}]}
    return await database.create_container("unique", PartitionKey("/pk"), unique_key_policy=policy, default_ttl=-1)


async def test_create_upsert_replace_and_patch_reject_a_duplicate(unique: ContainerProxy) -> None:
    await unique.create_item({"id": "a", "pk": "p", "name": "Ann", "place": {"city": "Bonn"}, "number": 1})
    other = {"id": "b", "pk": "p", "name": "Ann", "place": {"city": "Bonn"}, "number": 2}

    with fails_with(409):
        await unique.create_item(other)
    with fails_with(409):
        await unique.upsert_item(other)
    await unique.create_item({**other, "name": "Bob"})
    with fails_with(409):
        await unique.replace_item("b", other)
    with fails_with(409):
        await unique.patch_item("b", "p", [{"op": "set", "path": "/number", "value": 1}])
    assert (await unique.read_item("b", "p"))["name"] == "Bob"


async def test_a_missing_value_equals_null(unique: ContainerProxy) -> None:
    await unique.create_item({"id": "a", "pk": "p", "number": 1})

    with fails_with(409):
        await unique.create_item({"id": "b", "pk": "p", "name": None, "number": 2})


async def test_a_replacement_of_the_container_repeats_its_unique_keys(
    unique: ContainerProxy, database: DatabaseProxy, raw: RawClient
) -> None:
    repeated = await unique.read()

    with fails_with(403):
        await database.replace_container("unique", PartitionKey("/pk"), default_ttl=5)
    response = await raw.send("PUT", "/dbs/db/colls/unique", kind="colls", link="dbs/db/colls/unique", body=repeated)

    assert (response.status, response.json["uniqueKeyPolicy"]) == (200, repeated["uniqueKeyPolicy"])


async def test_logical_partitions_are_independent(unique: ContainerProxy) -> None:
    await unique.create_item({"id": "a", "pk": "p", "number": 1})
    await unique.create_item({"id": "a", "pk": "q", "number": 1})


async def test_deletes_updates_and_expiry_free_a_value(unique: ContainerProxy, clock: Clock) -> None:
    await unique.create_item({"id": "a", "pk": "p", "number": 1, "name": "a"})
    await unique.upsert_item({"id": "a", "pk": "p", "number": 2, "name": "a"})
    await unique.create_item({"id": "b", "pk": "p", "number": 1, "name": "b", "ttl": 5})
    await unique.delete_item("a", "p")
    await unique.create_item({"id": "c", "pk": "p", "number": 2, "name": "c"})

    clock.advance(5)

    await unique.create_item({"id": "d", "pk": "p", "number": 1, "name": "d"})
    assert [item["id"] async for item in unique.read_all_items()] == ["c", "d"]


async def test_an_upsert_can_keep_its_own_values(unique: ContainerProxy) -> None:
    await unique.create_item({"id": "a", "pk": "p", "number": 1})

    await unique.upsert_item({"id": "a", "pk": "p", "number": 1, "other": True})
