"""The SDK's synchronous client: the same gateway, another transport and other pipelines."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest
from azure.core import MatchConditions
from azure.cosmos import ContainerProxy, CosmosClient, PartitionKey

from local.cosmos import CosmosEmulator
from tests.local.cosmos.refusals import refused

Scenario = Callable[[ContainerProxy], None]


def items(container: ContainerProxy) -> None:
    created = container.create_item({"id": "a", "pk": "p", "n": 1})
    replaced = container.replace_item(created, {"id": "a", "pk": "p", "n": 2})
    assert replaced["_rid"] == created["_rid"]
    with refused(412):
        container.replace_item(
            "a", {"id": "a", "pk": "p"}, etag=created["_etag"], match_condition=MatchConditions.IfNotModified
        )
    with refused(409):
        container.create_item({"id": "a", "pk": "p"})
    assert container.patch_item("a", "p", [{"op": "incr", "path": "/n", "value": 1}])["n"] == 3
    assert container.read_item("a", "p")["n"] == 3
    container.delete_item("a", "p")
    with refused(404):
        container.read_item("a", "p")


def queries(container: ContainerProxy) -> None:
    for number in range(20):
        container.create_item({"id": str(number), "pk": f"key {number}", "n": number})
    everywhere = {"enable_cross_partition_query": True}

    top = container.query_items("SELECT TOP 3 VALUE c.n FROM c ORDER BY c.n DESC", **everywhere)
    count = container.query_items("SELECT VALUE COUNT(1) FROM c WHERE c.n >= 5", **everywhere)
    distinct = container.query_items("SELECT DISTINCT VALUE c.n % 3 FROM c", **everywhere)

    assert list(top) == [19, 18, 17]
    assert list(count) == [15]
    assert sorted(distinct) == [0, 1, 2]
    with refused(400):
        list(container.query_items("SELECT * FROM c"))


def change_feed(container: ContainerProxy) -> None:
    for number in range(10):
        container.create_item({"id": str(number), "pk": f"key {number}"})
    pages = container.query_items_change_feed(start_time="Beginning", max_item_count=2).by_page()
    seen = [item["id"] for page in pages for item in page]
    container.upsert_item({"id": "3", "pk": "key 3"})

    again = container.query_items_change_feed(continuation=pages.continuation_token)

    assert sorted(map(int, seen)) == list(range(10))
    assert [item["id"] for item in again] == ["3"]


def scripts_and_batches(container: ContainerProxy) -> None:
    body = "function (n) { getContext().getResponse().setBody(n + 1); }"
    container.scripts.create_stored_procedure({"id": "add", "body": body})
    assert container.scripts.execute_stored_procedure("add", "p", [41]) == 42
    results = container.execute_item_batch([("create", ({"id": "a", "pk": "p"},)), ("read", ("a",))], "p")
    assert [one["statusCode"] for one in results] == [201, 200]


def concurrent_increments(container: ContainerProxy) -> None:
    container.create_item({"id": "counter", "pk": "p", "n": 0})

    def increment(_: int) -> None:
        container.patch_item("counter", "p", [{"op": "incr", "path": "/n", "value": 1}])

    with ThreadPoolExecutor(8) as threads:
        list(threads.map(increment, range(40)))
    assert container.read_item("counter", "p")["n"] == 40


@pytest.mark.parametrize("scenario", [items, queries, change_feed, scripts_and_batches, concurrent_increments])
async def test_the_synchronous_client_works(emulator: CosmosEmulator, scenario: Scenario) -> None:
    def run() -> None:
        with CosmosClient(emulator.endpoint, emulator.key) as client:
            database = client.create_database_if_not_exists("db")
            scenario(database.create_container_if_not_exists("items", PartitionKey("/pk")))

    await asyncio.to_thread(run)
