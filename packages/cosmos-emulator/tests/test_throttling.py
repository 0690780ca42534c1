"""Throttling at the provisioned throughput."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest
from azure.cosmos import PartitionKey, ThroughputProperties
from azure.cosmos.aio import ContainerProxy, CosmosClient, DatabaseProxy
from azure.cosmos.exceptions import CosmosHttpResponseError
from cosmos_emulator import CosmosEmulator, EmulatorSettings
from tests.clock import Clock
from tests.errors import fails_with
from tests.raw_client import CONTAINER, RawClient, RawResponse

from tests.polling import eventually

# The SDK replaces 0 with its default of 30 s.
NO_RETRY_S = -1


@pytest.fixture
def partitions() -> int:
    return EmulatorSettings().partitions


@pytest.fixture
async def no_retry_client(emulator: CosmosEmulator) -> AsyncIterator[CosmosClient]:
    """Enable throttling, and connect a client that does not retry."""
    emulator.settings.throttle = True
    async with CosmosClient(emulator.endpoint, emulator.key, retry_throttle_backoff_max=NO_RETRY_S) as client:
        yield client


def database_of(client: CosmosClient) -> DatabaseProxy:
    return client.get_database_client("db")


async def charge_of(container: ContainerProxy, document: dict[str, str]) -> float | None:
    """Create an item, and return its charge, or None if throttled."""
    try:
        created = await container.create_item(document)
    except CosmosHttpResponseError as error:
        if error.status_code != 429:
            raise
        return None
    return float(created.get_response_headers()["x-ms-request-charge"])


async def spend(container: ContainerProxy, key: str = "p") -> float:
    """Create items in a logical partition until one is throttled, and return the total charge."""
    spent_ru = 0.0
    for number in range(1000):
        charge_ru = await charge_of(container, {"id": f"{key}-{number}", "pk": key, "text": "x" * 50_000})
        if charge_ru is None:
            return spent_ru
        spent_ru += charge_ru
    raise AssertionError("no request was throttled")


async def test_a_partition_over_its_budget_returns_429(
    container: ContainerProxy, no_retry_client: CosmosClient, raw: RawClient
) -> None:
    spent_ru = await spend(database_of(no_retry_client).get_container_client("items"))

    refusal = await raw.create_item({"id": "late", "pk": "p"})

    assert 400 <= spent_ru < 500
    assert (refusal.status, refusal.headers["x-ms-substatus"]) == (429, "3200")
    assert refusal.headers["x-ms-retry-after-ms"] == "1000"  # the clock stopped at the start of a second
    assert refusal.headers["x-ms-request-charge"] == "0.38"


async def test_a_throttled_write_is_not_stored_and_succeeds_in_the_next_second(
    container: ContainerProxy, no_retry_client: CosmosClient, raw: RawClient, clock: Clock
) -> None:
    await spend(database_of(no_retry_client).get_container_client("items"))
    await raw.create_item({"id": "late", "pk": "p"})

    clock.advance(1)

    with fails_with(404):
        await container.read_item("late", "p")
    assert (await raw.create_item({"id": "late", "pk": "p"})).status == 201


async def test_reads_and_queries_are_throttled_but_metadata_is_not(
    container: ContainerProxy, no_retry_client: CosmosClient
) -> None:
    throttled = database_of(no_retry_client).get_container_client("items")
    await spend(throttled)

    with fails_with(429, 3200):
        await throttled.read_item("p-0", "p")
    with fails_with(429, 3200):
        assert [item async for item in throttled.query_items("SELECT * FROM c", partition_key="p")]
    assert (await throttled.read())["id"] == "items"
    assert (await throttled.get_throughput()).offer_throughput == 400


async def test_throughput_is_divided_among_physical_partitions(
    emulator: CosmosEmulator, database: DatabaseProxy, no_retry_client: CosmosClient
) -> None:
    emulator.settings.partitions = 2
    await database.create_container("two", PartitionKey("/pk"), offer_throughput=600)
    container = database_of(no_retry_client).get_container_client("two")

    spent_ru = await spend(container, "a")
    others = [await charge_of(container, {"id": "one", "pk": key}) for key in "bcdefgh"]

    assert 300 <= spent_ru < 400
    assert {charge_ru is None for charge_ru in others} == {True, False}  # some share the exhausted partition


async def query(raw: RawClient, text: str) -> RawResponse:
    """Request one page of a cross-partition query, without an SDK."""
    headers = {
        "content-type": "application/query+json",
        "x-ms-documentdb-isquery": "True",
        "x-ms-documentdb-query-enablecrosspartition": "True",
        "x-ms-max-item-count": "1000",
    }
    body = {"query": text}
    return await raw.send("POST", f"/{CONTAINER}/docs", kind="docs", link=CONTAINER, body=body, headers=headers)


async def test_a_query_is_charged_to_each_partition_that_it_visits(
    emulator: CosmosEmulator, database: DatabaseProxy, raw: RawClient, clock: Clock
) -> None:
    emulator.settings.partitions = 4
    container = await database.create_container("items", PartitionKey("/pk"))
    for key in "abcdefgh":
        await container.create_item({"id": "one", "pk": key})
    emulator.settings.throttle = True

    async def spend_with(text: str) -> float:
        """Query in a new second until throttled, and return the total charge."""
        clock.advance(1)
        spent_ru = 0.0
        while (response := await query(raw, text)).status == 200:
            spent_ru += float(response.headers["x-ms-request-charge"])
        assert response.status == 429, response.text
        return spent_ru

    # Four partitions have 100 RU/s each.
    assert 400 <= await spend_with("SELECT * FROM c") < 420
    assert 100 <= await spend_with("SELECT * FROM c WHERE c.pk = 'a'") < 110


async def test_autoscale_provides_its_maximum(database: DatabaseProxy, no_retry_client: CosmosClient) -> None:
    throughput = ThroughputProperties(auto_scale_max_throughput=1000)
    await database.create_container("scaled", PartitionKey("/pk"), offer_throughput=throughput)

    assert 1000 <= await spend(database_of(no_retry_client).get_container_client("scaled")) < 1100


async def test_a_throughput_increase_applies_immediately(
    container: ContainerProxy, no_retry_client: CosmosClient
) -> None:
    throttled = database_of(no_retry_client).get_container_client("items")
    await spend(throttled)

    await container.replace_throughput(800)

    assert 300 <= await spend(throttled, "q") < 500


async def test_containers_share_their_databases_throughput(client: CosmosClient, no_retry_client: CosmosClient) -> None:
    shared = await client.create_database("shared", offer_throughput=500)
    for name in ("one", "two"):
        await shared.create_container(name, PartitionKey("/pk"))
    throttled = no_retry_client.get_database_client("shared")

    spent_ru = await spend(throttled.get_container_client("one"))

    assert 500 <= spent_ru < 600
    assert await spend(throttled.get_container_client("two")) == 0


async def test_throttling_can_be_turned_off_at_run_time(
    emulator: CosmosEmulator, container: ContainerProxy, no_retry_client: CosmosClient
) -> None:
    throttled = database_of(no_retry_client).get_container_client("items")
    await spend(throttled)

    emulator.settings.throttle = False

    assert (await throttled.read_item("p-0", "p"))["id"] == "p-0"


async def test_the_sdk_retries_a_throttled_write_once_in_the_next_second(
    container: ContainerProxy, no_retry_client: CosmosClient, emulator: CosmosEmulator, clock: Clock
) -> None:
    await spend(database_of(no_retry_client).get_container_client("items"))
    clock.advance(0.9)
    seen = emulator.faults.add("500 operation=create probability=0")
    writing = asyncio.create_task(container.create_item({"id": "late", "pk": "p"}))
    await eventually(lambda: seen.matched == 1)

    clock.advance(0.1)
    await writing

    assert seen.matched == 2
    assert (await container.read_item("late", "p"))["id"] == "late"
