"""Responses to writes without the item: `no_response_on_write`, `no_response` and `Prefer: return=minimal`."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest
from azure.cosmos.aio import ContainerProxy, CosmosClient
from cosmos_emulator import CosmosEmulator
from tests.raw_client import CONTAINER, PARTITION_KEY, RawClient

ITEM = {"id": "a", "pk": "p", "n": 1}
PATCH = [{"op": "incr", "path": "/n", "value": 1}]
MINIMAL = {"Prefer": "return=minimal"}


@pytest.fixture
async def quiet(emulator: CosmosEmulator, container: ContainerProxy) -> AsyncIterator[ContainerProxy]:
    """The container, used by a client with `no_response_on_write`."""
    async with CosmosClient(emulator.endpoint, emulator.key, no_response_on_write=True) as client:
        yield client.get_database_client("db").get_container_client(container.id)


async def test_no_write_returns_the_item(quiet: ContainerProxy, container: ContainerProxy) -> None:
    answers = [
        await quiet.create_item(ITEM),
        await quiet.upsert_item({**ITEM, "n": 2}),
        await quiet.upsert_item({**ITEM, "id": "b"}),
        await quiet.replace_item("a", {**ITEM, "n": 3}),
        await quiet.patch_item("a", "p", PATCH),
    ]

    assert answers == [{}] * 5
    assert all(float(one.get_response_headers()["x-ms-request-charge"]) > 1 for one in answers)
    assert all(one.get_response_headers()["etag"] for one in answers)
    assert (await container.read_item("a", "p"))["n"] == 4


async def test_an_option_of_one_request_overrides_the_client(quiet: ContainerProxy, container: ContainerProxy) -> None:
    assert (await quiet.create_item(ITEM, no_response=False))["n"] == 1
    assert await container.upsert_item(ITEM, no_response=True) == {}


async def test_reads_and_queries_return_items(quiet: ContainerProxy) -> None:
    await quiet.create_item(ITEM)

    assert (await quiet.read_item("a", "p"))["n"] == 1
    assert [item["n"] async for item in quiet.query_items("SELECT * FROM c", partition_key="p")] == [1]
    assert [item["n"] async for item in quiet.read_all_items()] == [1]


async def test_a_batch_returns_only_items_that_it_reads(quiet: ContainerProxy) -> None:
    operations: list[Any] = [
        ("create", (ITEM,)),
        ("upsert", ({**ITEM, "n": 2},)),
        ("replace", ("a", {**ITEM, "n": 3})),
        ("patch", ("a", PATCH)),
        ("read", ("a",)),
        ("delete", ("a",)),
    ]

    results = await quiet.execute_item_batch(operations, "p")

    bodies = [result.get("resourceBody") for result in results]
    assert [result["statusCode"] for result in results] == [201, 200, 200, 200, 200, 204]
    assert [body and body["n"] for body in bodies] == [None, None, None, None, 4, None]
    assert all(result["eTag"] for result in results[:5])


@pytest.mark.parametrize("atomic", ["True", "False"])
async def test_an_operation_of_a_batch_can_ask_for_a_minimal_response(
    raw: RawClient, container: ContainerProxy, atomic: str
) -> None:
    """.NET and Java send `minimalReturnPreference` for each operation."""
    headers = {
        **PARTITION_KEY,
        "x-ms-cosmos-is-batch-request": "True",
        "x-ms-cosmos-batch-atomic": atomic,
        "x-ms-cosmos-batch-ordered": "True",
    }
    body = [
        {"operationType": "Create", "resourceBody": ITEM, "minimalReturnPreference": True},
        {"operationType": "Create", "resourceBody": {**ITEM, "id": "b"}},
        {"operationType": "Upsert", "resourceBody": ITEM, "minimalReturnPreference": True},
        {"operationType": "Read", "id": "a", "minimalReturnPreference": True},
    ]

    response = await raw.send("POST", f"/{CONTAINER}/docs", kind="docs", link=CONTAINER, body=body, headers=headers)

    assert [one["statusCode"] for one in response.json] == [201, 201, 200, 200]
    assert ["resourceBody" in one for one in response.json] == [False, True, False, True]


@pytest.mark.parametrize("prefer", ["return=minimal", "Return=Minimal", "respond-async, return=minimal"])
async def test_the_prefer_header_is_a_list_in_any_case(raw: RawClient, container: ContainerProxy, prefer: str) -> None:
    response = await raw.create_item(ITEM | {"pk": "p"}, headers={"Prefer": prefer})

    assert (response.status, response.text) == (201, "")


async def test_a_minimal_write_costs_as_much_as_a_full_one(raw: RawClient, container: ContainerProxy) -> None:
    full = await raw.create_item({"id": "1", "pk": "p"})
    minimal = await raw.create_item({"id": "2", "pk": "p"}, headers=MINIMAL)

    assert minimal.headers["x-ms-request-charge"] == full.headers["x-ms-request-charge"]
    assert minimal.headers["x-ms-session-token"] != full.headers["x-ms-session-token"]
