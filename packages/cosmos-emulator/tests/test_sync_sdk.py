"""The SDK's synchronous client, which has its own transport and query pipelines."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from azure.core import MatchConditions
from azure.cosmos import ContainerProxy, CosmosClient, PartitionKey
from azure.cosmos.exceptions import CosmosBatchOperationError
from cosmos_emulator import CosmosEmulator
from cosmos_emulator.settings import WELL_KNOWN_KEY
from tests.errors import fails_with

Scenario = Callable[[ContainerProxy], None]


def items(container: ContainerProxy) -> None:
    created = container.create_item({"id": "a", "pk": "p", "n": 1})
    replaced = container.replace_item(created, {"id": "a", "pk": "p", "n": 2})
    assert replaced["_rid"] == created["_rid"]
    with fails_with(412):
        container.replace_item(
            "a", {"id": "a", "pk": "p"}, etag=created["_etag"], match_condition=MatchConditions.IfNotModified
        )
    with fails_with(409):
        container.create_item({"id": "a", "pk": "p"})
    assert container.patch_item("a", "p", [{"op": "incr", "path": "/n", "value": 1}])["n"] == 3
    assert container.read_item("a", "p")["n"] == 3
    container.delete_item("a", "p")
    with fails_with(404):
        container.read_item("a", "p")


def queries(container: ContainerProxy) -> None:
    for number in range(20):
        container.create_item({"id": str(number), "pk": f"key {number}", "n": number})
    cross_partition = {"enable_cross_partition_query": True}

    top = container.query_items("SELECT TOP 3 VALUE c.n FROM c ORDER BY c.n DESC", **cross_partition)
    count = container.query_items("SELECT VALUE COUNT(1) FROM c WHERE c.n >= 5", **cross_partition)
    distinct = container.query_items("SELECT DISTINCT VALUE c.n % 3 FROM c", **cross_partition)

    assert list(top) == [19, 18, 17]
    assert list(count) == [15]
    assert sorted(distinct) == [0, 1, 2]
    with fails_with(400):
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
    assert [result["statusCode"] for result in results] == [201, 200]


def concurrent_increments(container: ContainerProxy) -> None:
    container.create_item({"id": "counter", "pk": "p", "n": 0})

    def increment(_: int) -> None:
        container.patch_item("counter", "p", [{"op": "incr", "path": "/n", "value": 1}])

    with ThreadPoolExecutor(8) as threads:
        list(threads.map(increment, range(40)))
    assert container.read_item("counter", "p")["n"] == 40


def management(container: ContainerProxy) -> None:
    definition = container.read()
    assert definition["partitionKey"] == {"paths": ["/pk"], "kind": "Hash", "version": 2}
    assert container.get_throughput().offer_throughput == 400
    assert container.replace_throughput(700).offer_throughput == 700
    assert container.get_throughput().offer_throughput == 700
    assert len(list(container.read_feed_ranges())) == 4
    assert list(container.list_conflicts()) == []


def containers(container: ContainerProxy) -> None:
    with CosmosClient(container.client_connection.url_connection, WELL_KNOWN_KEY) as client:
        database = client.create_database("other", offer_throughput=500)
        with fails_with(409):
            client.create_database("other")
        created = database.create_container("c", PartitionKey("/pk"), default_ttl=60)
        database.replace_container(created, PartitionKey("/pk"), default_ttl=30)
        assert created.read()["defaultTtl"] == 30
        assert [container["id"] for container in database.list_containers()] == ["c"]
        found = client.query_databases("SELECT * FROM r WHERE r.id = 'other'")
        assert [database["id"] for database in found] == ["other"]
        client.delete_database("other")
        with fails_with(404, 1003):
            created.read_item("a", "p")


def pages(container: ContainerProxy) -> None:
    for number in range(9):
        container.create_item({"id": str(number), "pk": "p", "n": number})
    query: dict[str, Any] = {
        "query": "SELECT VALUE c.n FROM c WHERE c.n >= @least ORDER BY c.n DESC",
        "parameters": [{"name": "@least", "value": 2}],
        "partition_key": "p",
        "max_item_count": 3,
    }

    first = container.query_items(**query).by_page()
    first_page = list(next(first))
    rest = container.query_items(**query).by_page(first.continuation_token)

    assert first_page + [row for page in rest for row in page] == [8, 7, 6, 5, 4, 3, 2]
    assert len(list(container.read_all_items(max_item_count=2))) == 9
    assert len(container.read_items([(str(number), "p") for number in range(5)])) == 5


def ranges(container: ContainerProxy) -> None:
    for number in range(12):
        container.create_item({"id": str(number), "pk": f"key {number % 6}", "n": number})
    found = [
        row
        for feed_range in container.read_feed_ranges()
        for row in container.query_items("SELECT VALUE c.n FROM c", feed_range=feed_range)
    ]
    one_key = container.feed_range_from_partition_key("key 2")

    assert sorted(found) == [*range(12)]
    assert sorted(container.query_items("SELECT VALUE c.n FROM c", feed_range=one_key)) == [2, 8]
    feed = container.query_items_change_feed(start_time="Beginning", feed_range=one_key)
    assert [item["n"] for item in feed] == [2, 8]
    by_key = container.query_items_change_feed(start_time="Beginning", partition_key="key 2")
    assert [item["n"] for item in by_key] == [2, 8]


def pipelines(container: ContainerProxy) -> None:
    for number in range(12):
        container.create_item({"id": str(number), "pk": f"key {number}", "n": number, "kind": number % 3})
    expected: dict[str, list[Any]] = {
        "SELECT VALUE SUM(c.n) FROM c": [66],
        "SELECT VALUE AVG(c.n) FROM c": [5.5],
        "SELECT VALUE MIN(c.n) FROM c WHERE c.n > 3": [4],
        "SELECT VALUE c.n FROM c ORDER BY c.kind, c.n DESC OFFSET 3 LIMIT 2": [0, 10],
        "SELECT DISTINCT VALUE c.kind FROM c ORDER BY c.kind DESC": [2, 1, 0],
        "SELECT TOP 2 VALUE c.n FROM c ORDER BY c.n": [0, 1],
    }

    for query, answer in expected.items():
        assert list(container.query_items(query, enable_cross_partition_query=True)) == answer
    with fails_with(400):
        list(container.query_items("SELECT COUNT(1) AS n FROM c", enable_cross_partition_query=True))


def triggers_and_functions(container: ContainerProxy) -> None:
    stamp = "function () { const r = getContext().getRequest(), d = r.getBody(); d.stamped = 1; r.setBody(d); }"
    trigger = {"id": "stamp", "triggerType": "Pre", "triggerOperation": "All", "body": stamp}
    container.scripts.create_trigger(trigger)
    container.scripts.create_user_defined_function({"id": "twice", "body": "function (n) { return 2 * n; }"})
    fails = "function () { __.createDocument(__.getSelfLink(), {id: 'b', pk: 'p'}); throw new Error(4321, 'no'); }"
    container.scripts.create_stored_procedure({"id": "fails", "body": fails})

    container.create_item({"id": "a", "pk": "p", "n": 4}, pre_trigger_include="stamp")
    with fails_with(400, 4321):
        container.scripts.execute_stored_procedure("fails", "p")

    query = "SELECT VALUE [udf.twice(c.n), c.stamped] FROM c"
    assert list(container.query_items(query, partition_key="p")) == [[8, 1]]
    assert [script["id"] for script in container.scripts.list_triggers()] == ["stamp"]
    assert [script["id"] for script in container.scripts.list_user_defined_functions()] == ["twice"]


def failed_batch(container: ContainerProxy) -> None:
    with pytest.raises(CosmosBatchOperationError) as caught:
        container.execute_item_batch([("create", ({"id": "a", "pk": "p"},)), ("read", ("none",))], "p")
    assert [result["statusCode"] for result in caught.value.operation_responses] == [424, 404]
    assert list(container.read_all_items()) == []


SCENARIOS = [
    *(items, queries, change_feed, scripts_and_batches, concurrent_increments, management, containers, pages, ranges),
    *(pipelines, triggers_and_functions, failed_batch),
]


@pytest.mark.parametrize("scenario", SCENARIOS)
async def test_the_synchronous_client_works(emulator: CosmosEmulator, scenario: Scenario) -> None:
    def run() -> None:
        with CosmosClient(emulator.endpoint, emulator.key) as client:
            database = client.create_database_if_not_exists("db")
            policy = {"compositeIndexes": [[{"path": "/kind"}, {"path": "/n", "order": "descending"}]]}
            scenario(database.create_container_if_not_exists("items", PartitionKey("/pk"), indexing_policy=policy))

    await asyncio.to_thread(run)
