"""Databases, containers and throughput."""

from __future__ import annotations

import pytest
from azure.cosmos import PartitionKey, ThroughputProperties
from azure.cosmos.aio import ContainerProxy, CosmosClient, DatabaseProxy
from tests.raw_client import RawClient
from tests.refusals import refused


async def test_create_if_not_exists_creates_once(client: CosmosClient) -> None:
    database = await client.create_database_if_not_exists("db")
    again = await client.create_database_if_not_exists("db")
    container = await database.create_container_if_not_exists("c", PartitionKey("/pk"))
    same = await database.create_container_if_not_exists("c", PartitionKey("/pk"))

    assert (await database.read())["_rid"] == (await again.read())["_rid"]
    assert (await container.read())["_rid"] == (await same.read())["_rid"]


async def test_a_taken_name_is_refused(client: CosmosClient, container: ContainerProxy) -> None:
    database = client.get_database_client("db")

    with refused(409):
        await client.create_database("db")
    with refused(409):
        await database.create_container("items", PartitionKey("/pk"))


async def test_the_definition_is_echoed_with_its_defaults(raw: RawClient, database: DatabaseProxy) -> None:
    body = {"id": "c", "partitionKey": {"paths": ["/a/b"]}, "defaultTtl": 60}

    echoed = (await raw.send("POST", "/dbs/db/colls", kind="colls", link="dbs/db", body=body)).json

    assert echoed["partitionKey"] == {"paths": ["/a/b"], "kind": "Hash", "version": 2}
    assert echoed["defaultTtl"] == 60
    assert echoed["indexingPolicy"]["includedPaths"] == [{"path": "/*"}]
    assert echoed["indexingPolicy"]["excludedPaths"] == [{"path": '/"_etag"/?'}]
    assert echoed["conflictResolutionPolicy"]["mode"] == "LastWriterWins"
    assert echoed["_self"] == f"dbs/{(await database.read())['_rid']}/colls/{echoed['_rid']}/"
    assert (echoed["_docs"], echoed["_sprocs"]) == ("docs/", "sprocs/")


@pytest.mark.parametrize(
    "body",
    [
        {"id": "c"},
        {"partitionKey": {"paths": ["/a"]}},
        {"id": "a/b", "partitionKey": {"paths": ["/a"]}},
        {"id": "c", "partitionKey": {"paths": []}},
        {"id": "c", "partitionKey": {"paths": ["a"]}},
        {"id": "c", "partitionKey": {"paths": ["/a"], "kind": "Range"}},
        {"id": "c", "partitionKey": {"paths": ["/a"]}, "defaultTtl": 0},
        {"id": "c", "partitionKey": {"paths": ["/a"]}, "uniqueKeyPolicy": {"uniqueKeys": [{"paths": []}]}},
        {"id": "c", "partitionKey": {"paths": ["/a"]}, "computedProperties": [{"name": "x", "query": "y"}]},
    ],
)
async def test_a_definition_that_the_service_would_not_take_is_refused(
    raw: RawClient, database: DatabaseProxy, body: dict[str, object]
) -> None:
    answer = await raw.send("POST", "/dbs/db/colls", kind="colls", link="dbs/db", body=body)

    assert answer.status == 400


async def test_replacing_changes_the_policy_and_the_ttl_but_not_the_key(
    database: DatabaseProxy, container: ContainerProxy
) -> None:
    policy = {"indexingMode": "consistent", "includedPaths": [{"path": "/a/?"}], "excludedPaths": [{"path": "/*"}]}

    await database.replace_container(container, PartitionKey("/pk"), indexing_policy=policy, default_ttl=5)
    replaced = await container.read()

    assert replaced["defaultTtl"] == 5
    assert {"path": "/a/?"} in replaced["indexingPolicy"]["includedPaths"]
    with refused(400):
        await database.replace_container(container, PartitionKey("/other"))


async def test_lists_and_queries_find_databases_and_containers(client: CosmosClient, database: DatabaseProxy) -> None:
    await client.create_database("other")
    for name in ("a", "b"):
        await database.create_container(name, PartitionKey("/pk"))

    named = client.query_databases("SELECT * FROM r WHERE r.id = @id", parameters=[{"name": "@id", "value": "db"}])

    assert [one["id"] async for one in client.list_databases()] == ["db", "other"]
    assert [one["id"] async for one in database.list_containers()] == ["a", "b"]
    assert [one["id"] async for one in named] == ["db"]
    assert [one["id"] async for one in database.query_containers("SELECT * FROM r WHERE r.id = 'b'")] == ["b"]


async def test_deleting_a_database_takes_its_containers_along(client: CosmosClient, container: ContainerProxy) -> None:
    await container.create_item({"id": "a", "pk": "p"})

    await client.delete_database("db")

    with refused(404, 1003):
        await container.read_item("a", "p")
    with refused(404):
        await client.get_database_client("db").read()


async def test_throughput_is_kept_with_the_container(database: DatabaseProxy, container: ContainerProxy) -> None:
    autoscaled = await database.create_container(
        "auto", PartitionKey("/pk"), offer_throughput=ThroughputProperties(auto_scale_max_throughput=4000)
    )

    assert (await container.get_throughput()).offer_throughput == 400
    assert (await container.replace_throughput(1000)).offer_throughput == 1000
    assert (await container.get_throughput()).offer_throughput == 1000
    assert (await autoscaled.get_throughput()).auto_scale_max_throughput == 4000
    with refused(400):
        await container.replace_throughput(350)


async def test_a_database_with_throughput_shares_it(client: CosmosClient, raw: RawClient) -> None:
    database = await client.create_database("shared", offer_throughput=600)
    await database.create_container("c", PartitionKey("/pk"))

    offers = await raw.send("GET", "/offers", kind="offers")

    assert (await database.get_throughput()).offer_throughput == 600
    assert [one["resource"] for one in offers.json["Offers"]] == [(await database.read())["_self"]]


async def test_four_physical_partitions_are_four_feed_ranges(raw: RawClient, container: ContainerProxy) -> None:
    ranges = [one async for one in container.read_feed_ranges()]
    listed = await raw.send("GET", "/dbs/db/colls/items/pkranges", kind="pkranges", link="dbs/db/colls/items")
    again = await raw.send(
        "GET",
        "/dbs/db/colls/items/pkranges",
        kind="pkranges",
        link="dbs/db/colls/items",
        headers={"A-IM": "Incremental Feed", "If-None-Match": listed.headers["etag"]},
    )

    assert len(ranges) == 4
    assert [one["id"] for one in listed.json["PartitionKeyRanges"]] == ["0", "1", "2", "3"]
    assert listed.json["PartitionKeyRanges"][0]["minInclusive"] == ""
    assert listed.json["PartitionKeyRanges"][-1]["maxExclusive"] == "FF"
    assert (again.status, again.text, again.headers["etag"]) == (304, "", listed.headers["etag"])


async def test_the_conflict_feed_is_empty(container: ContainerProxy) -> None:
    assert [one async for one in container.list_conflicts()] == []
