"""Databases, containers, and throughput."""

from __future__ import annotations

import re
from itertools import count
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
from azure.cosmos import PartitionKey, ThroughputProperties
from azure.cosmos.aio import ContainerProxy, CosmosClient, DatabaseProxy
from cosmos_emulator import CosmosEmulator, CosmosError
from cosmos_emulator.definitions.container import ContainerDefinition, completed
from cosmos_emulator.operations import list_changes
from cosmos_emulator.reads import paging
from tests.errors import fails_with
from tests.raw_client import CONTAINER, RawClient, RawResponse


async def test_create_if_not_exists_creates_once(client: CosmosClient) -> None:
    database = await client.create_database_if_not_exists("db")
    again = await client.create_database_if_not_exists("db")
    container = await database.create_container_if_not_exists("c", PartitionKey("/pk"))
    same = await database.create_container_if_not_exists("c", PartitionKey("/pk"))

    assert (await database.read())["_rid"] == (await again.read())["_rid"]
    assert (await container.read())["_rid"] == (await same.read())["_rid"]


async def test_an_existing_name_is_rejected(client: CosmosClient, container: ContainerProxy) -> None:
    database = client.get_database_client("db")

    with fails_with(409):
        await client.create_database("db")
    with fails_with(409):
        await database.create_container("items", PartitionKey("/pk"))


async def test_a_definition_is_completed_with_defaults(raw: RawClient, database: DatabaseProxy) -> None:
    body = {"id": "c", "partitionKey": {"paths": ["/a/b"]}, "defaultTtl": 60}

    completed = (await raw.send("POST", "/dbs/db/colls", kind="colls", link="dbs/db", body=body)).json

    assert completed["partitionKey"] == {"paths": ["/a/b"], "kind": "Hash"}
    assert completed["defaultTtl"] == 60
    assert completed["indexingPolicy"]["includedPaths"] == [{"path": "/*"}]
    assert completed["indexingPolicy"]["excludedPaths"] == [{"path": '/"_etag"/?'}]
    assert completed["conflictResolutionPolicy"]["mode"] == "LastWriterWins"
    assert completed["_self"] == f"dbs/{(await database.read())['_rid']}/colls/{completed['_rid']}/"
    assert (completed["_docs"], completed["_sprocs"]) == ("docs/", "sprocs/")


@pytest.mark.parametrize(
    "body",
    [
        {"id": "c"},
        {"partitionKey": {"paths": ["/a"]}},
        {"id": "a/b", "partitionKey": {"paths": ["/a"]}},
        {"id": "c", "partitionKey": {"paths": []}},
        {"id": "c", "partitionKey": {"paths": ["a"]}},
        {"id": "c", "partitionKey": {"paths": ["//a"]}},
        {"id": "c", "partitionKey": {"paths": ["/a/"]}},
        {"id": "c", "partitionKey": {"paths": ["/a/*"]}},
        {"id": "c", "partitionKey": {"paths": ["/a b"]}},
        {"id": "c", "partitionKey": {"paths": ["/ a"]}},
        {"id": "c", "partitionKey": {"paths": ["/a-b"]}},
        {"id": "c", "partitionKey": {"paths": ["/a", "/b?"], "kind": "MultiHash"}},
        {"id": "c", "partitionKey": {"paths": ["/a"]}, "uniqueKeyPolicy": {"uniqueKeys": [{"paths": ["/b.c"]}]}},
        {"id": "c", "partitionKey": {"paths": ["/a"]}, "uniqueKeyPolicy": {"uniqueKeys": [{"paths": ["/b/"]}]}},
        {"id": "c", "partitionKey": {"paths": ["/a"]}, "indexingPolicy": {"indexingMode": "none", "automatic": True}},
        {"id": "c", "partitionKey": {"paths": ["/a"]}, "indexingPolicy": {"indexingMode": "none"}, "defaultTtl": -1},
        {"id": "c", "partitionKey": {"paths": ["/a"], "kind": "Range"}},
        {"id": "c", "partitionKey": {"paths": ["/a"]}, "conflictResolutionPolicy": {"mode": "FirstWriterWins"}},
        {"id": "c", "partitionKey": {"paths": ["/a"]}, "defaultTtl": 0},
        {"id": "c", "partitionKey": {"paths": ["/a"]}, "uniqueKeyPolicy": {"uniqueKeys": [{"paths": []}]}},
        {"id": "c", "partitionKey": {"paths": ["/a"]}, "computedProperties": [{"name": "x", "query": "y"}]},
    ],
)
async def test_an_invalid_definition_is_rejected(
    raw: RawClient, database: DatabaseProxy, body: dict[str, object]
) -> None:
    response = await raw.send("POST", "/dbs/db/colls", kind="colls", link="dbs/db", body=body)

    assert response.status == 400


def test_the_error_of_a_hierarchical_key_without_its_kind_names_the_kind() -> None:
    with pytest.raises(CosmosError, match="'kind': 'MultiHash'"):
        ContainerDefinition.parse({"partitionKey": {"paths": ["/a", "/b"]}})


def test_a_stored_definition_can_have_paths_that_new_containers_cannot_have() -> None:
    stored = {
        "partitionKey": {"paths": ["/a/"]},
        "uniqueKeyPolicy": {"uniqueKeys": [{"paths": ["/b/*", "//c", "/d-e"]}]},
    }

    definition = ContainerDefinition.parse(stored)

    assert definition.partition_key.paths == (("a", ""),)
    assert definition.unique_keys == ((("b", "*"), ("", "c"), ("d-e",)),)


async def test_a_container_with_such_a_path_can_be_replaced(emulator: CosmosEmulator, database: DatabaseProxy) -> None:
    account = emulator.controls._gateway.account
    stored = completed({"id": "c", "partitionKey": {"paths": ["/a"], "version": 2}})
    parent = account.resources.find("dbs", "", "db")
    assert parent is not None
    account.add_container(parent, {**stored, "partitionKey": {"paths": ["/a-b"], "kind": "Hash", "version": 2}}, 1)

    await database.replace_container("c", PartitionKey("/a-b"), default_ttl=5)

    assert (await database.get_container_client("c").read())["defaultTtl"] == 5


@pytest.mark.parametrize("path", ["/a_1", "/ä", "/a/b_c", '/"a b"', "/'a-b'/c"])
async def test_letters_digits_underscores_and_quotes_are_valid_in_paths(database: DatabaseProxy, path: str) -> None:
    policy = {"uniqueKeys": [{"paths": [path]}]}

    container = await database.create_container("c", PartitionKey(path), unique_key_policy=policy)

    assert (await container.read())["partitionKey"]["paths"] == [path]


async def test_an_invalid_path_of_a_partition_key_is_named(database: DatabaseProxy) -> None:
    path = "/asdwqr31 @#$#$WRadf"

    with fails_with(
        400, match=f"The partition key component definition path '{re.escape(path)}' could not be accepted"
    ):
        await database.create_container("c", PartitionKey(path))


LAST_WRITER: dict[str, str] = {"mode": "LastWriterWins", "conflictResolutionPath": "/n"}


@pytest.mark.parametrize(
    ("before", "same", "other"),
    [
        ({}, {"mode": "LastWriterWins"}, LAST_WRITER),
        ({"mode": "LastWriterWins"}, {}, {"mode": "Custom"}),
        (LAST_WRITER, {**LAST_WRITER, "conflictResolutionProcedure": ""}, {}),
        ({"mode": "Custom"}, {"mode": "custom", "conflictResolutionPath": ""}, {}),
    ],
)
async def test_a_conflict_resolution_policy_cannot_be_changed(
    database: DatabaseProxy, before: dict[str, str], same: dict[str, str], other: dict[str, str]
) -> None:
    await database.create_container("c", PartitionKey("/pk"), conflict_resolution_policy=before or None)

    await database.replace_container("c", PartitionKey("/pk"), conflict_resolution_policy=same or None)
    with fails_with(400, match="conflict resolution policy cannot be changed"):
        await database.replace_container("c", PartitionKey("/pk"), conflict_resolution_policy=other or None)


async def test_enumerations_are_accepted_in_any_case(raw: RawClient, database: DatabaseProxy) -> None:
    composite = [[{"path": "/a", "order": "Ascending"}, {"path": "/b", "order": "DESCENDING"}]]
    body = {
        "id": "c",
        "partitionKey": {"paths": ["/a", "/b"], "kind": "multihash"},
        "indexingPolicy": {"indexingMode": "Consistent", "compositeIndexes": composite},
        "conflictResolutionPolicy": {"mode": "lastWriterWins", "conflictResolutionPath": "/n"},
    }

    created = await raw.send("POST", "/dbs/db/colls", kind="colls", link="dbs/db", body=body)
    replaced = await raw.send("PUT", "/dbs/db/colls/c", kind="colls", link="dbs/db/colls/c", body=body)

    assert (created.status, replaced.status) == (201, 200)
    for container in (created.json, replaced.json):
        policy = container["indexingPolicy"]
        assert container["partitionKey"]["kind"] == "MultiHash"
        assert policy["indexingMode"] == "consistent"
        assert [part["order"] for part in policy["compositeIndexes"][0]] == ["ascending", "descending"]
        assert container["conflictResolutionPolicy"] == {"mode": "LastWriterWins", "conflictResolutionPath": "/n"}


@pytest.mark.parametrize(("kind", "name", "version"), [("Hash", "V1", 1), ("Hash", "V2", 2), ("MultiHash", "V2", 2)])
async def test_a_partition_key_version_can_have_its_name_in_java(
    raw: RawClient, database: DatabaseProxy, kind: str, name: str, version: int
) -> None:
    body = {"id": "c", "partitionKey": {"paths": ["/a"], "kind": kind, "version": name}}

    created = await raw.send("POST", "/dbs/db/colls", kind="colls", link="dbs/db", body=body)
    replaced = await raw.send("PUT", "/dbs/db/colls/c", kind="colls", link="dbs/db/colls/c", body=body)

    assert (created.status, replaced.status) == (201, 200)
    assert [one.json["partitionKey"]["version"] for one in (created, replaced)] == [version, version]


async def test_a_partition_key_without_a_version_is_the_same_as_version_1(
    raw: RawClient, database: DatabaseProxy
) -> None:
    omitted, named = ({"id": "c", "partitionKey": {"paths": ["/a"], **version}} for version in ({}, {"version": 1}))
    await raw.send("POST", "/dbs/db/colls", kind="colls", link="dbs/db", body=omitted)

    for body in (named, omitted):
        replaced = await raw.send("PUT", "/dbs/db/colls/c", kind="colls", link="dbs/db/colls/c", body=body)
        assert replaced.json["partitionKey"] == {"kind": "Hash", **body["partitionKey"]}


@pytest.mark.parametrize(("kind", "version"), [("Hash", "V3"), ("Hash", "2"), ("Hash", 3), ("MultiHash", "V1")])
async def test_other_partition_key_versions_are_rejected(
    raw: RawClient, database: DatabaseProxy, kind: str, version: str | int
) -> None:
    body = {"id": "c", "partitionKey": {"paths": ["/a"], "kind": kind, "version": version}}

    response = await raw.send("POST", "/dbs/db/colls", kind="colls", link="dbs/db", body=body)

    assert response.status == 400
    assert "is not supported for kind" in response.json["message"]


async def test_a_replace_can_change_the_policy_and_ttl_but_not_the_partition_key(
    database: DatabaseProxy, container: ContainerProxy
) -> None:
    policy = {"indexingMode": "consistent", "includedPaths": [{"path": "/a/?"}], "excludedPaths": [{"path": "/*"}]}

    await database.replace_container(container, PartitionKey("/pk"), indexing_policy=policy, default_ttl=5)
    replaced = await container.read()

    assert replaced["defaultTtl"] == 5
    assert {"path": "/a/?"} in replaced["indexingPolicy"]["includedPaths"]
    with fails_with(400):
        await database.replace_container(container, PartitionKey("/other"))
    with fails_with(400, match="without a version"):
        await database.replace_container(container, PartitionKey("/pk", version=1))
    with fails_with(400, match="needs a 'partitionKey'"):
        await database.replace_container(container, None)


async def test_lists_and_queries_find_databases_and_containers(client: CosmosClient, database: DatabaseProxy) -> None:
    await client.create_database("other")
    for name in ("a", "b"):
        await database.create_container(name, PartitionKey("/pk"))

    named = client.query_databases("SELECT * FROM r WHERE r.id = @id", parameters=[{"name": "@id", "value": "db"}])

    assert [database["id"] async for database in client.list_databases()] == ["db", "other"]
    assert [container["id"] async for container in database.list_containers()] == ["a", "b"]
    assert [found["id"] async for found in named] == ["db"]
    assert [container["id"] async for container in database.query_containers("SELECT * FROM r WHERE r.id = 'b'")] == [
        "b"
    ]


async def test_deleting_a_database_deletes_its_containers(client: CosmosClient, container: ContainerProxy) -> None:
    await container.create_item({"id": "a", "pk": "p"})

    await client.delete_database("db")

    with fails_with(404, 1003):
        await container.read_item("a", "p")
    with fails_with(404):
        await client.get_database_client("db").read()


async def test_throughput_can_be_read_and_replaced(database: DatabaseProxy, container: ContainerProxy) -> None:
    autoscaled = await database.create_container(
        "auto", PartitionKey("/pk"), offer_throughput=ThroughputProperties(auto_scale_max_throughput=4000)
    )

    assert (await container.get_throughput()).offer_throughput == 400
    assert (await container.replace_throughput(1000)).offer_throughput == 1000
    assert (await container.get_throughput()).offer_throughput == 1000
    assert (await autoscaled.get_throughput()).auto_scale_max_throughput == 4000
    with fails_with(400):
        await container.replace_throughput(350)


async def test_too_little_throughput_is_rejected_with_the_minimum(database: DatabaseProxy) -> None:
    too_little = ThroughputProperties(auto_scale_max_throughput=-200, auto_scale_increment_percent=0)

    with fails_with(400, match="Requested throughput -200 is less than required minimum throughput 1000"):
        await database.create_container("c", PartitionKey("/pk"), offer_throughput=too_little)
    with fails_with(400, match="Requested throughput 300 is less than required minimum throughput 400"):
        await database.create_container("c", PartitionKey("/pk"), offer_throughput=300)


@pytest.mark.parametrize("path", ['/"level\' 1*()"/"le/vel2"', "/'level\" 1*()'/'le/vel2'"])
async def test_a_quoted_partition_key_path_can_contain_slashes_and_quotes(database: DatabaseProxy, path: str) -> None:
    container = await database.create_container("c", PartitionKey(path))
    outer = path[2:].partition(path[1])[0]

    await container.create_item({"id": "a", outer: {"le/vel2": "p"}})

    assert (await container.read_item("a", "p"))[outer] == {"le/vel2": "p"}
    assert [item["id"] async for item in container.query_items("SELECT c.id FROM c", partition_key="p")] == ["a"]


async def test_a_response_has_the_location_of_its_request(emulator: CosmosEmulator, container: ContainerProxy) -> None:
    created = await container.create_item({"id": "a b", "pk": "p"})
    read = await container.read_item("a b", "p")

    assert created.get_response_headers()["Content-Location"] == f"{emulator.endpoint}dbs/db/colls/items/docs/"
    assert read.get_response_headers()["Content-Location"] == f"{emulator.endpoint}dbs/db/colls/items/docs/a%20b/"


async def test_containers_share_their_databases_throughput(client: CosmosClient, raw: RawClient) -> None:
    database = await client.create_database("shared", offer_throughput=600)
    await database.create_container("c", PartitionKey("/pk"))

    offers = await raw.send("GET", "/offers", kind="offers")

    assert (await database.get_throughput()).offer_throughput == 600
    assert [offer["resource"] for offer in offers.json["Offers"]] == [(await database.read())["_self"]]


@pytest.mark.emulator_only("needs several physical partitions")
async def test_each_physical_partition_is_a_feed_range(raw: RawClient, container: ContainerProxy) -> None:
    ranges = [feed_range async for feed_range in container.read_feed_ranges()]
    listed = await raw.send("GET", "/dbs/db/colls/items/pkranges", kind="pkranges", link="dbs/db/colls/items")
    again = await raw.send(
        "GET",
        "/dbs/db/colls/items/pkranges",
        kind="pkranges",
        link="dbs/db/colls/items",
        headers={"A-IM": "Incremental Feed", "If-None-Match": listed.headers["etag"]},
    )

    assert len(ranges) == 4
    assert [key_range["id"] for key_range in listed.json["PartitionKeyRanges"]] == ["0", "1", "2", "3"]
    assert listed.json["PartitionKeyRanges"][0]["minInclusive"] == ""
    assert listed.json["PartitionKeyRanges"][-1]["maxExclusive"] == "FF"
    assert (again.status, again.text, again.headers["etag"]) == (304, "", listed.headers["etag"])


async def test_the_conflict_feed_is_empty(container: ContainerProxy) -> None:
    assert [conflict async for conflict in container.list_conflicts()] == []


@pytest.mark.parametrize(
    ("scope", "status"),
    [
        ({}, 400),
        ({"x-ms-documentdb-partitionkey": '["p"]'}, 200),
        ({"x-ms-documentdb-query-enablecrosspartition": "True"}, 200),
    ],
)
async def test_a_query_for_conflicts_needs_a_partition_key_or_the_cross_partition_flag(
    raw: RawClient, container: ContainerProxy, scope: dict[str, str], status: int
) -> None:
    headers = {"x-ms-documentdb-isquery": "True", "Content-Type": "application/query+json", **scope}
    path = "/dbs/db/colls/items/conflicts"

    response = await raw.send(
        "POST", path, kind="conflicts", link="dbs/db/colls/items", body={"query": "SELECT * FROM c"}, headers=headers
    )

    assert response.status == status
    assert ("Cross partition query is required but disabled" in response.text) == (status == 400)


@pytest.mark.parametrize(
    ("module", "text"),
    [
        (list_changes, None),
        (paging, "SELECT * FROM c"),
        (paging, "SELECT * FROM c ORDER BY c.n"),
        (paging, "SELECT * FROM c WHERE c.pk = 'p' ORDER BY c.m"),
    ],
)
async def test_a_read_fails_with_404_if_its_container_is_deleted_meanwhile(
    database: DatabaseProxy, raw: RawClient, monkeypatch: pytest.MonkeyPatch, module: ModuleType, text: str | None
) -> None:
    policy = {"includedPaths": [{"path": "/*"}, {"path": "/n/?"}], "excludedPaths": []}
    container = await database.create_container("items", PartitionKey("/pk"), indexing_policy=policy)
    for first in range(0, 400, 100):
        items = [{"id": str(n), "pk": "p", "n": n, "m": n} for n in range(first, first + 100)]
        await container.execute_item_batch([("create", (item,)) for item in items], "p")

    async def delete_once(_: float) -> None:
        monkeypatch.undo()
        await database.delete_container("items")

    monkeypatch.setattr(paging, "time", SimpleNamespace(monotonic=count().__next__))
    monkeypatch.setattr(paging, "SLICE_S", 1.5)  # one step
    monkeypatch.setattr(paging, "MAX_PAGE_S", 1000)
    monkeypatch.setattr(module, "asyncio", SimpleNamespace(sleep=delete_once))
    headers = {"x-ms-max-item-count": "-1"}
    if text is None:
        headers |= {"A-IM": "Incremental feed"}
        response = await raw.send("GET", f"/{CONTAINER}/docs", kind="docs", link=CONTAINER, headers=headers)
    else:
        headers |= {"x-ms-documentdb-isquery": "true", "x-ms-documentdb-partitionkey": '["p"]'}
        response = await raw.send(
            "POST", f"/{CONTAINER}/docs", kind="docs", link=CONTAINER, headers=headers, body={"query": text}
        )

    assert (response.status, response.headers["x-ms-substatus"]) == (404, "1003")


async def test_the_creation_says_whether_the_container_shares_the_databases_throughput(
    raw: RawClient, client: CosmosClient
) -> None:
    await client.create_database("shared", offer_throughput=600)

    found = {}
    for name, headers in {"shares": {}, "own": {"x-ms-offer-throughput": "400"}}.items():
        body = {"id": name, "partitionKey": {"paths": ["/pk"], "kind": "Hash"}}
        created = await raw.send(
            "POST", "/dbs/shared/colls", kind="colls", link="dbs/shared", body=body, headers=headers
        )
        found[name] = created.headers["x-ms-share-throughput"]

    assert found == {"shares": "True", "own": "False"}


async def test_an_offer_has_its_minimum_and_with_autoscale_a_tenth_of_the_maximum(
    raw: RawClient, database: DatabaseProxy
) -> None:
    await database.create_container("items", PartitionKey("/pk"))
    maximum = ThroughputProperties(auto_scale_max_throughput=4000)
    await database.create_container("autoscaled", PartitionKey("/pk"), offer_throughput=maximum)
    manual, autoscale = (await raw.send("GET", "/offers", kind="offers")).json["Offers"]

    read = await raw.send("GET", f"/offers/{manual['_rid']}", kind="offers", link=manual["_rid"].lower(), by_rid=True)
    replaced = await replace_offer(raw, autoscale, {"offerAutopilotSettings": {"maxThroughput": 2000}})
    other = await replace_offer(raw, manual, {"offerThroughput": 500}, _rid="NotAllowed")

    assert [one.headers["x-ms-cosmos-min-throughput"] for one in (read, replaced)] == ["400", "1000"]
    assert replaced.json["content"]["offerThroughput"] == 200
    assert other.status == 400


@pytest.mark.parametrize(
    ("highest", "smallest", "too_little"),
    [
        ({"offerThroughput": 50_000}, {"offerThroughput": 500}, {"offerThroughput": 400}),
        ({"offerThroughput": 50_100}, {"offerThroughput": 600}, {"offerThroughput": 500}),
        (
            {"offerAutopilotSettings": {"maxThroughput": 50_000}},
            {"offerAutopilotSettings": {"maxThroughput": 5000}},
            {"offerAutopilotSettings": {"maxThroughput": 4000}},
        ),
        (
            {"offerAutopilotSettings": {"maxThroughput": 14_000}},
            {"offerAutopilotSettings": {"maxThroughput": 1000}},
            {"offerAutopilotSettings": {"maxThroughput": 0}},
        ),
    ],
)
async def test_the_highest_throughput_ever_limits_the_lowest(
    raw: RawClient,
    database: DatabaseProxy,
    highest: dict[str, Any],
    smallest: dict[str, Any],
    too_little: dict[str, Any],
) -> None:
    manual, autoscale = smallest.get("offerThroughput"), smallest.get("offerAutopilotSettings")
    throughput = manual or ThroughputProperties(auto_scale_max_throughput=autoscale["maxThroughput"])
    await database.create_container("c", PartitionKey("/pk"), offer_throughput=throughput)
    (offer,) = (await raw.send("GET", "/offers", kind="offers")).json["Offers"]

    raised = await replace_offer(raw, offer, highest)
    lowered = [await replace_offer(raw, offer, content) for content in (smallest, smallest, too_little)]

    least = str(manual or autoscale["maxThroughput"])
    assert [one.status for one in (raised, *lowered)] == [200, 200, 200, 400]
    assert [one.headers["x-ms-cosmos-min-throughput"] for one in (raised, *lowered[:2])] == [least] * 3
    assert f"is less than required minimum throughput {least}" in lowered[2].json["message"]


async def test_the_highest_throughput_ever_is_kept_by_migrations_and_exports(
    raw: RawClient, emulator: CosmosEmulator, database: DatabaseProxy, tmp_path: Path
) -> None:
    await database.create_container("c", PartitionKey("/pk"), offer_throughput=50_000)
    (offer,) = (await raw.send("GET", "/offers", kind="offers")).json["Offers"]
    await replace_offer(raw, offer, {"offerThroughput": 600})

    migrated = await replace_offer(raw, offer, {"offerThroughput": -1}, TO_AUTOSCALE)
    await emulator.controls.export_to(tmp_path / "account.jsonl")
    await emulator.controls.import_from(tmp_path / "account.jsonl")
    (copy,) = (await raw.send("GET", "/offers", kind="offers")).json["Offers"]

    assert migrated.json["content"]["offerAutopilotSettings"] == {"maxThroughput": 5000}
    assert copy["content"]["offerMinimumThroughputParameters"]["maxThroughputEverProvisioned"] == 50_000


async def test_an_autoscale_database_without_containers_is_scaled_down(raw: RawClient, client: CosmosClient) -> None:
    maximum = ThroughputProperties(auto_scale_max_throughput=20_000)
    await client.create_database("shared", offer_throughput=maximum)
    (offer,) = (await raw.send("GET", "/offers", kind="offers")).json["Offers"]

    lower = await replace_offer(raw, offer, {"offerAutopilotSettings": {"maxThroughput": 15_000}})

    assert lower.status == 200


async def test_at_most_25_containers_share_a_databases_throughput(client: CosmosClient) -> None:
    database = await client.create_database("shared", offer_throughput=400)
    for number in range(25):
        await database.create_container(f"c{number}", PartitionKey("/pk"))

    with fails_with(400, match="25 containers", sub_status=1019):
        await database.create_container("c25", PartitionKey("/pk"))
    await database.create_container("own", PartitionKey("/pk"), offer_throughput=400)
    await database.delete_container("c0")
    await database.create_container("c25", PartitionKey("/pk"))


async def test_an_autoscale_database_without_containers_is_not_scaled_beyond_a_partition(
    raw: RawClient, client: CosmosClient
) -> None:
    maximum = ThroughputProperties(auto_scale_max_throughput=4000)
    database = await client.create_database("shared", offer_throughput=maximum)
    (offer,) = (await raw.send("GET", "/offers", kind="offers")).json["Offers"]
    await database.create_container("own", PartitionKey("/pk"), offer_throughput=400)

    small = await replace_offer(raw, offer, {"offerAutopilotSettings": {"maxThroughput": 10_000}})
    large = await replace_offer(raw, offer, {"offerAutopilotSettings": {"maxThroughput": 12_000}})
    await database.create_container("shares", PartitionKey("/pk"))
    after = await replace_offer(raw, offer, {"offerAutopilotSettings": {"maxThroughput": 12_000}})

    assert [one.status for one in (small, large, after)] == [200, 400, 200]
    assert "There are no collections using the shared database offer" in large.json["message"]


@pytest.mark.parametrize(
    ("bucket", "status"), [("1", 200), ("5", 200), ("0", 400), ("6", 400), ("256", 400), ("x", 400)]
)
async def test_a_throughput_bucket_is_from_1_to_5(
    raw: RawClient, container: ContainerProxy, bucket: str, status: int
) -> None:
    await container.create_item({"id": "a", "pk": "p"})

    read = await raw.read_item("a", {"x-ms-cosmos-throughput-bucket": bucket})

    assert read.status == status
    if status == 400:
        assert "specified for the header 'x-ms-cosmos-throughput-bucket' is invalid." in read.json["message"]


TO_AUTOSCALE = {"x-ms-cosmos-migrate-offer-to-autopilot": "true"}
TO_MANUAL = {"x-ms-cosmos-migrate-offer-to-manual-throughput": "true"}


@pytest.mark.parametrize(
    ("manual_ru_s", "most_ru_s"), [(400, 1000), (1400, 1000), (1500, 2000), (4600, 5000), (11_000, 11_000)]
)
async def test_manual_throughput_is_migrated_to_autoscale(
    raw: RawClient, database: DatabaseProxy, manual_ru_s: int, most_ru_s: int
) -> None:
    await database.create_container("items", PartitionKey("/pk"), offer_throughput=manual_ru_s)
    (offer,) = (await raw.send("GET", "/offers", kind="offers")).json["Offers"]
    refused = [
        await replace_offer(raw, offer, {"offerAutopilotSettings": {"maxThroughput": 5000}}),
        await replace_offer(raw, offer, {"offerAutopilotSettings": {"maxThroughput": 5000}}, TO_AUTOSCALE),
    ]

    migrated = await replace_offer(raw, offer, {"offerThroughput": -1}, TO_AUTOSCALE)

    assert [one.status for one in refused] == [400] * 2
    assert all("x-ms-cosmos-migrate-offer-to-autopilot" in one.json["message"] for one in refused)
    assert (migrated.status, migrated.headers["x-ms-cosmos-min-throughput"]) == (200, "1000")
    assert migrated.json["content"] == {
        "offerThroughput": most_ru_s // 10,
        "offerAutopilotSettings": {"maxThroughput": most_ru_s},
        "offerMinimumThroughputParameters": highest_ever(max(manual_ru_s, most_ru_s)),
    }


async def test_autoscale_is_migrated_to_manual_throughput(raw: RawClient, client: CosmosClient) -> None:
    maximum = ThroughputProperties(auto_scale_max_throughput=6000)
    await client.create_database("shared", offer_throughput=maximum)
    (offer,) = (await raw.send("GET", "/offers", kind="offers")).json["Offers"]
    refused = [
        await replace_offer(raw, offer, {"offerThroughput": 500}),
        await replace_offer(raw, offer, {"offerThroughput": 500}, TO_MANUAL),
    ]

    migrated = await replace_offer(raw, offer, {"offerAutopilotSettings": {"maxThroughput": -1}}, TO_MANUAL)

    assert [one.status for one in refused] == [400] * 2
    assert all("x-ms-cosmos-migrate-offer-to-manual-throughput" in one.json["message"] for one in refused)
    assert (migrated.status, migrated.headers["x-ms-cosmos-min-throughput"]) == (200, "400")
    assert migrated.json["content"] == {
        "offerThroughput": 6000,
        "offerMinimumThroughputParameters": highest_ever(6000),
    }


def highest_ever(ru_s: int) -> dict[str, int]:
    return {"maxThroughputEverProvisioned": ru_s, "maxConsumedStorageEverInKB": 0}


async def replace_offer(
    raw: RawClient, offer: dict[str, Any], content: dict[str, Any], headers: dict[str, str] | None = None, **body: str
) -> RawResponse:
    return await raw.send(
        "PUT",
        f"/offers/{offer['_rid']}",
        kind="offers",
        link=offer["_rid"].lower(),
        by_rid=True,
        body={**offer, "content": content, **body},
        headers=headers,
    )
