"""The service's limits: the largest allowed value passes, and the next one fails.

Source: learn.microsoft.com/azure/cosmos-db/concepts-limits.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from azure.cosmos import PartitionKey
from azure.cosmos.aio import ContainerProxy, CosmosClient, DatabaseProxy
from tests.errors import fails_with
from tests.raw_client import CONTAINER, RawClient


async def rows(container: ContainerProxy, query: str) -> list[Any]:
    return [row async for row in container.query_items(query, partition_key="p")]


@pytest.mark.parametrize(("kind", "most"), [("sprocs", 100), ("udfs", 50), ("triggers", 25)])
async def test_a_container_has_a_limited_number_of_scripts(
    raw: RawClient, container: ContainerProxy, kind: str, most: int
) -> None:
    script = {"body": "function () {}", "triggerType": "Pre", "triggerOperation": "All"}

    responses = [
        await raw.send("POST", f"/{CONTAINER}/{kind}", kind=kind, link=CONTAINER, body={**script, "id": f"s{number}"})
        for number in range(most + 1)
    ]

    assert {response.status for response in responses[:-1]} == {201}
    assert responses[-1].status == 400
    assert f"can have at most {most}" in responses[-1].json["message"]


def unique_keys(keys: int, paths: int) -> dict[str, Any]:
    return {
        "unique_key_policy": {"uniqueKeys": [{"paths": [f"/k{k}/p{p}" for p in range(paths)]} for k in range(keys)]}
    }


def composite_index(paths: int) -> dict[str, Any]:
    return {"indexing_policy": {"includedPaths": [{"path": "/*"}], "compositeIndexes": [composite_paths(paths)]}}


def composite_paths(paths: int) -> list[dict[str, str]]:
    return [{"path": f"/p{number}", "order": "ascending"} for number in range(paths)]


def included_paths(paths: int) -> dict[str, Any]:
    included = [{"path": f"/p{number}/?"} for number in range(paths - 2)]
    return {"indexing_policy": {"includedPaths": included, "excludedPaths": [{"path": "/*"}]}}


def computed_property(characters: int) -> dict[str, Any]:
    return {"computed_properties": [{"name": "cp", "query": "SELECT VALUE c.a FROM c".ljust(characters)}]}


@pytest.mark.parametrize(
    ("allowed", "too_much"),
    [
        pytest.param(unique_keys(10, 1), unique_keys(11, 1), id="unique keys"),
        pytest.param(unique_keys(1, 16), unique_keys(1, 17), id="paths of a unique key"),
        pytest.param(composite_index(8), composite_index(9), id="paths of a composite index"),
        pytest.param(included_paths(1500), included_paths(1502), id="paths of an indexing policy"),
        pytest.param({"default_ttl": -1}, {"default_ttl": 0}, id="TTL off"),
        pytest.param({"default_ttl": 2**31 - 1}, {"default_ttl": 2**31}, id="longest TTL"),
        pytest.param({"default_ttl": 1}, {"default_ttl": -2}, id="shortest TTL"),
        pytest.param({"offer_throughput": 400}, {"offer_throughput": 399}, id="smallest throughput"),
        pytest.param({"offer_throughput": 1_000_000}, {"offer_throughput": 1_000_100}, id="largest throughput"),
        pytest.param(computed_property(10_000), computed_property(10_001), id="query of a computed property"),
    ],
)
async def test_a_definition_beyond_a_limit_is_rejected(
    database: DatabaseProxy, allowed: dict[str, Any], too_much: dict[str, Any]
) -> None:
    await database.create_container("allowed", PartitionKey("/pk"), **allowed)

    with fails_with(400):
        await database.create_container("refused", PartitionKey("/pk"), **too_much)


async def test_a_hierarchical_key_has_at_most_three_levels(database: DatabaseProxy) -> None:
    await database.create_container("three", PartitionKey(["/a", "/b", "/c"], kind="MultiHash"))

    with fails_with(400):
        await database.create_container("four", PartitionKey(["/a", "/b", "/c", "/d"], kind="MultiHash"))


@pytest.mark.parametrize("version", [1, 2])
async def test_a_partition_key_value_is_limited_in_bytes(database: DatabaseProxy, version: int) -> None:
    container = await database.create_container("keys", PartitionKey("/pk", version=version))
    await container.create_item({"id": "a", "pk": "ü" + "x" * 2046})

    with fails_with(400):
        await container.create_item({"id": "a", "pk": "ü" + "x" * 2047})


async def test_version_1_distinguishes_long_keys_that_share_their_hash(database: DatabaseProxy) -> None:
    container = await database.create_container("keys", PartitionKey("/pk", version=1))
    keys = ["x" * 200 + end for end in "ab"]  # only the first 100 characters are hashed

    for key in keys:
        await container.create_item({"id": "same", "pk": key})

    for key in keys:
        assert [item["pk"] async for item in container.query_items("SELECT * FROM c", partition_key=key)] == [key]
        feed = container.query_items_change_feed(start_time="Beginning", partition_key=key)
        assert {item["pk"] async for item in feed} == set(keys)  # azure-cosmos asks for the hash only


async def test_a_name_has_at_most_255_allowed_characters(raw: RawClient, database: DatabaseProxy) -> None:
    async def status(name: str) -> int:
        body = {"id": name, "partitionKey": {"paths": ["/pk"]}}
        return (await raw.send("POST", "/dbs/db/colls", kind="colls", link="dbs/db", body=body)).status

    assert await status("ü" * 255) == 201
    for name in ("x" * 256, "", "a/b", "a\\b", "a?b", "a#b", "a ", "a\tb"):
        assert (name, await status(name)) == (name, 400)


async def test_an_invalid_name_is_rejected_with_the_services_message(
    client: CosmosClient, container: ContainerProxy
) -> None:
    with fails_with(400, match="Ensure to provide a unique non-empty string less than '255' characters."):
        await client.create_database("x" * 256)
    with fails_with(400, match="Ensure to provide a unique non-empty string less than '1024' characters."):
        await container.create_item({"id": "x" * 1024, "pk": "p"})


async def test_an_id_is_limited_in_bytes(raw: RawClient, container: ContainerProxy) -> None:
    async def status(item_id: str) -> int:
        return (await raw.create_item({"id": item_id, "pk": "p"})).status

    assert await status("ü" * 511) == 201
    assert await status("ü" * 512) == 400


def joins(count: int) -> str:
    return " ".join(["SELECT VALUE 1 FROM c", *(f"JOIN j{number} IN c.list" for number in range(count))])


def udf_calls(count: int) -> str:
    return f"SELECT VALUE [{', '.join(['udf.f()'] * count)}] FROM c"  # noqa: S608 - no outside input


def text_of(length: int) -> str:
    empty = "SELECT VALUE '' FROM c"
    return empty.replace("''", f"'{'x' * (length - len(empty))}'")


@pytest.mark.parametrize(
    ("query", "most", "code"),
    [(joins, 10, "SC3004"), (udf_calls, 10, "SC3005"), (text_of, 512 * 1024, "maximum limit")],
)
async def test_a_query_beyond_a_limit_is_rejected(
    container: ContainerProxy, query: Callable[[int], str], most: int, code: str
) -> None:
    await container.scripts.create_user_defined_function({"id": "f", "body": "function f() { return 1; }"})
    await container.create_item({"id": "a", "pk": "p", "list": [1]})

    assert len(await rows(container, query(most))) == 1
    with fails_with(400, match=code):
        await rows(container, query(most + 1))


@pytest.mark.filterwarnings("ignore:Sending a large body")
async def test_patches_and_scripts_respect_the_item_size_limit(container: ContainerProxy) -> None:
    half = "x" * (1024 * 1024 + 1000)
    await container.create_item({"id": "a", "pk": "p", "first": half})
    body = "function (half) { const c = __; c.createDocument(c.getSelfLink(), {id: 'b', pk: 'p', a: half, b: half}); }"
    await container.scripts.create_stored_procedure({"id": "grow", "body": body})

    with fails_with(413):
        await container.patch_item("a", "p", [{"op": "set", "path": "/second", "value": half}])
    with fails_with(400, 413):
        await container.scripts.execute_stored_procedure("grow", partition_key="p", parameters=[half])


@pytest.mark.parametrize(
    ("paths", "values"),
    [
        pytest.param(["/pk", "/b"], ["é" * 700] * 2, id="letters that JSON escapes"),
        pytest.param(["/pk"], ["\x01" * 1500], id="control characters"),
        pytest.param(["/pk", "/b", "/c"], ["\x01" * 2048] * 3, id="longest values"),
    ],
)
async def test_a_partition_key_can_be_long_in_json(
    database: DatabaseProxy, paths: list[str], values: list[str]
) -> None:
    """Clients send it in a header, as JSON, with up to six characters for a byte."""
    key = PartitionKey(paths, kind="MultiHash") if len(paths) > 1 else PartitionKey(paths[0])
    container = await database.create_container("items", key)
    item = {"id": "a", **{path.strip("/"): value for path, value in zip(paths, values, strict=True)}}
    await container.create_item(item)

    read = await container.read_item("a", values if len(paths) > 1 else values[0])
    queried = [one async for one in container.query_items("SELECT c.id FROM c", partition_key=values)]

    assert read["pk"] == values[0]
    assert [one["id"] for one in queried] == ["a"]


@pytest.mark.parametrize(
    ("path", "headers"),
    [
        pytest.param(f"/{CONTAINER}/docs/a", {"x-ms-continuation": "x" * 100_000}, id="header"),
        pytest.param(f"/{CONTAINER}/docs/{'a' * 100_000}", {}, id="path"),
    ],
)
async def test_a_header_beyond_the_limit_gets_an_error_of_the_service(
    raw: RawClient,
    container: ContainerProxy,
    caplog: pytest.LogCaptureFixture,
    path: str,
    headers: dict[str, str],
) -> None:
    response = await raw.send("GET", path, kind="docs", link=path.strip("/"), headers=headers)

    assert response.status == 400
    assert response.json["code"] == "BadRequest"
    assert "Request header too large" in response.json["message"]
    assert float(response.headers["x-ms-request-charge"]) >= 0
    assert caplog.records == []
