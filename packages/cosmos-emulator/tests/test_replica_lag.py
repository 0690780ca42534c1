"""Replicas that are behind: `replica_lag`.

The tests' clock stands still, so replicas catch up only when a test advances it.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from aiohttp import ClientSession
from azure.core import MatchConditions
from azure.cosmos import PartitionKey
from azure.cosmos.aio import ContainerProxy, CosmosClient, DatabaseProxy
from cosmos_emulator import CosmosEmulator, EmulatorSettings
from cosmos_emulator.__main__ import parse_arguments
from cosmos_emulator.latency import Latency
from tests.clock import Clock
from tests.emulator_client import emulator_client
from tests.errors import fails_with
from tests.raw_client import RawClient

LAG_S = 0.5
EVERYTHING = "SELECT VALUE c.id FROM c"


@pytest.fixture
def settings(clock: Clock) -> EmulatorSettings:
    return EmulatorSettings(clock=clock, replica_lag=Latency(LAG_S))


@pytest.fixture
async def other(emulator: CosmosEmulator, container: ContainerProxy) -> AsyncIterator[ContainerProxy]:
    """The container in a client without the session of the writer."""
    async with CosmosClient(emulator.endpoint, emulator.key) as client:
        yield client.get_database_client("db").get_container_client(container.id)


async def queried(container: ContainerProxy, query: str = EVERYTHING, **options: Any) -> list[Any]:
    return [row async for row in container.query_items(query, **options)]


async def changed(container: ContainerProxy, **options: Any) -> list[str]:
    return [item["id"] async for item in container.query_items_change_feed(**options)]


async def test_a_point_read_of_another_client_is_stale_until_the_replica_catches_up(
    container: ContainerProxy, other: ContainerProxy, clock: Clock
) -> None:
    await container.create_item({"id": "a", "pk": "p", "n": 1})
    clock.advance(LAG_S)
    await container.replace_item("a", {"id": "a", "pk": "p", "n": 2})

    assert (await other.read_item("a", "p"))["n"] == 1
    clock.advance(LAG_S / 2)
    assert (await other.read_item("a", "p"))["n"] == 1
    clock.advance(LAG_S / 2)
    assert (await other.read_item("a", "p"))["n"] == 2


async def test_the_writer_reads_its_own_writes(container: ContainerProxy) -> None:
    for n in range(3):
        await container.upsert_item({"id": "a", "pk": "p", "n": n})

        assert (await container.read_item("a", "p"))["n"] == n
        assert await queried(container, "SELECT VALUE c.n FROM c", partition_key="p") == [n]
        assert await queried(container, "SELECT VALUE c.n FROM c") == [n]
        assert [item["n"] async for item in container.read_all_items()] == [n]


async def test_every_read_of_another_client_is_stale(
    container: ContainerProxy, other: ContainerProxy, clock: Clock
) -> None:
    await container.create_item({"id": "a", "pk": "p"})

    with fails_with(404):
        await other.read_item("a", "p")
    assert await queried(other, partition_key="p") == []
    assert await queried(other) == []
    assert await queried(other, "SELECT VALUE COUNT(1) FROM c", partition_key="p") == [0]
    assert await queried(other, "SELECT VALUE c.id FROM c ORDER BY c.id", partition_key="p") == []
    assert [item async for item in other.read_all_items()] == []
    assert await other.read_items([("a", "p")]) == []
    assert await changed(other, start_time="Beginning") == []

    clock.advance(LAG_S)

    assert (await other.read_item("a", "p"))["id"] == "a"
    assert await queried(other, partition_key="p") == ["a"]
    assert await queried(other) == ["a"]
    assert await queried(other, "SELECT VALUE COUNT(1) FROM c", partition_key="p") == [1]
    assert [item["id"] async for item in other.read_all_items()] == ["a"]
    assert [item["id"] for item in await other.read_items([("a", "p")])] == ["a"]
    assert await changed(other, start_time="Beginning") == ["a"]


async def test_a_long_aggregate_in_a_worker_thread_is_stale(
    container: ContainerProxy, other: ContainerProxy, clock: Clock
) -> None:
    for start in range(0, 1000, 100):
        batch = [("create", ({"id": str(start + n), "pk": "p"},)) for n in range(100)]
        await container.execute_item_batch(batch, "p")
    clock.advance(LAG_S)
    await container.create_item({"id": "new", "pk": "p"})

    assert await queried(other, "SELECT VALUE COUNT(1) FROM c", partition_key="p") == [1000]


async def test_batches_scripts_and_conditions_see_the_present(container: ContainerProxy, other: ContainerProxy) -> None:
    script = """function read() {
        __.readDocument(__.getAltLink() + '/docs/a', (error, item) => {
            if (error) throw error;
            getContext().getResponse().setBody(item.n);
        });
    }"""
    await other.scripts.create_stored_procedure({"id": "read", "body": script})
    created = await container.create_item({"id": "a", "pk": "p", "n": 1})

    assert [result["resourceBody"]["n"] for result in await other.execute_item_batch([("read", ("a",))], "p")] == [1]
    assert await other.scripts.execute_stored_procedure("read", partition_key="p") == 1
    with fails_with(409):
        await other.create_item({"id": "a", "pk": "p"})
    patched = await other.patch_item("a", "p", [{"op": "incr", "path": "/n", "value": 1}])
    assert patched["n"] == 2
    with fails_with(412):
        await other.delete_item("a", "p", etag=created["_etag"], match_condition=MatchConditions.IfNotModified)


async def test_the_session_token_of_a_stale_response_is_that_of_the_state(
    container: ContainerProxy, raw: RawClient, clock: Clock
) -> None:
    old = (await container.create_item({"id": "a", "pk": "p", "n": 1})).get_response_headers()["x-ms-session-token"]
    clock.advance(LAG_S)
    new = (await container.upsert_item({"id": "a", "pk": "p", "n": 2})).get_response_headers()["x-ms-session-token"]

    tokenless = await raw.read_item("a")
    stale = await raw.read_item("a", {"x-ms-session-token": old})
    fresh = await raw.read_item("a", {"x-ms-session-token": new})

    assert [(one.json["n"], one.headers["x-ms-session-token"]) for one in (tokenless, stale, fresh)] == [
        (1, old),
        (1, old),
        (2, new),
    ]


async def test_a_client_never_goes_back_in_time(
    emulator: CosmosEmulator, container: ContainerProxy, other: ContainerProxy, clock: Clock
) -> None:
    emulator.settings.replica_lag = Latency(1.0, 1.0)
    await container.create_item({"id": "a", "pk": "p", "n": 0})
    clock.advance(2)
    seen = []

    for n in range(1, 50):
        await container.upsert_item({"id": "a", "pk": "p", "n": n})
        clock.advance(0.3)
        seen.append((await other.read_item("a", "p"))["n"])

    assert seen == sorted(seen)
    assert any(found < n for n, found in enumerate(seen, start=1))
    assert all(found >= n - 8 for n, found in enumerate(seen, start=1)), seen  # at most 2 s and a skipped state behind


async def test_readers_never_see_half_a_batch(
    emulator: CosmosEmulator, container: ContainerProxy, other: ContainerProxy, clock: Clock
) -> None:
    for n in range(400):  # so many that a query reads the first and the last item in different steps
        await container.create_item({"id": f"{n:03}", "pk": "p", "n": 0})
    clock.advance(LAG_S)
    emulator.settings.replica_lag = Latency(0.02, 0.02)
    seen = set()

    async def write() -> None:
        for n in range(1, 60):
            both = [("upsert", ({"id": name, "pk": "p", "n": n},)) for name in ("000", "399")]
            await container.execute_item_batch(both, "p")
            clock.advance(0.01)

    async def read(query: str) -> None:
        while not writing.done():
            rows = await queried(other, query, partition_key="p", max_item_count=1000)
            seen.add((rows[0], rows[-1]))

    writing = asyncio.create_task(write())
    await asyncio.gather(
        writing,
        read("SELECT VALUE c.n FROM c"),
        read("SELECT VALUE c.n FROM c ORDER BY c.id"),
    )

    assert len(seen) > 5
    assert all(first == last for first, last in seen), seen


async def test_the_change_feed_of_a_lagging_replica_loses_nothing(
    emulator: CosmosEmulator, container: ContainerProxy, other: ContainerProxy, clock: Clock
) -> None:
    emulator.settings.replica_lag = Latency(0.5, 0.4)
    delivered: list[str] = []
    continuation: dict[str, str] = {"start_time": "Beginning"}

    async def poll() -> None:
        nonlocal continuation
        delivered.extend(await changed(other, **continuation))
        continuation = {"continuation": other.client_connection.last_response_headers["etag"]}

    for n in range(40):
        await container.create_item({"id": str(n), "pk": str(n % 5)})
        clock.advance(0.05)
        await poll()
    assert len(delivered) < 40
    clock.advance(1)
    await poll()

    assert sorted(delivered, key=int) == [str(n) for n in range(40)]


async def test_pages_of_a_query_continue_after_the_replica_catches_up(
    container: ContainerProxy, other: ContainerProxy, clock: Clock
) -> None:
    for n in range(4):
        await container.create_item({"id": str(n), "pk": "p"})
    clock.advance(LAG_S)
    await container.create_item({"id": "4", "pk": "p"})
    pages = other.query_items(EVERYTHING, partition_key="p", max_item_count=2).by_page()

    first = [row async for row in await anext(pages)]
    clock.advance(LAG_S)
    rest = [row async for page in pages async for row in page]

    assert first + rest == ["0", "1", "2", "3", "4"]


async def test_an_expired_item_does_not_return(database: DatabaseProxy, emulator: CosmosEmulator, clock: Clock) -> None:
    emulator.settings.replica_lag = None
    container = await database.create_container("ttl", PartitionKey("/pk"), default_ttl=1)
    await container.create_item({"id": "a", "pk": "p"})
    emulator.settings.replica_lag = Latency(3600)
    await container.create_item({"id": "b", "pk": "p", "ttl": 60})
    async with CosmosClient(emulator.endpoint, emulator.key) as client:
        other = client.get_database_client("db").get_container_client("ttl")
        assert await queried(other) == ["a"]

        clock.advance(2)
        assert await queried(other) == []
        await container.create_item({"id": "a", "pk": "p", "ttl": 60})

        assert await queried(other) == []


async def test_a_changed_default_ttl_applies_at_once(
    database: DatabaseProxy, container: ContainerProxy, other: ContainerProxy, clock: Clock
) -> None:
    await container.create_item({"id": "a", "pk": "p"})
    clock.advance(LAG_S)
    assert await queried(other) == ["a"]

    clock.advance(5)
    await database.replace_container(container, PartitionKey("/pk"), default_ttl=2)

    assert await queried(other) == []


async def test_the_lag_can_be_switched_on_and_off(
    emulator: CosmosEmulator, container: ContainerProxy, other: ContainerProxy
) -> None:
    emulator.settings.replica_lag = None
    await container.create_item({"id": "a", "pk": "p", "n": 1})
    assert (await other.read_item("a", "p"))["n"] == 1

    emulator.settings.replica_lag = Latency(3600)
    for n in (2, 3):
        await container.upsert_item({"id": "a", "pk": "p", "n": n})
        assert (await other.read_item("a", "p"))["n"] == 1

    emulator.settings.replica_lag = None
    assert (await other.read_item("a", "p"))["n"] == 3

    emulator.settings.replica_lag = Latency(3600)
    assert (await other.read_item("a", "p"))["n"] == 3


async def test_replicas_lag_with_a_data_directory(tmp_path: Path, clock: Clock) -> None:
    settings = EmulatorSettings(data_dir=tmp_path, clock=clock, replica_lag=Latency(LAG_S))
    async with emulator_client(settings) as client:
        container = await (await client.create_database("db")).create_container("items", PartitionKey("/pk"))
        await container.create_item({"id": "a", "pk": "p"})
        await container.create_item({"id": "b", "pk": "p"})

    async with emulator_client(settings) as client:
        container = client.get_database_client("db").get_container_client("items")
        assert await queried(container) == ["a", "b"]
        await container.create_item({"id": "c", "pk": "p"})
        async with CosmosClient(client.client_connection.url_connection, settings.key) as another:
            other = another.get_database_client("db").get_container_client("items")
            assert await queried(other) == ["a", "b"]
            clock.advance(LAG_S)
            assert await queried(other) == ["a", "b", "c"]


def test_the_command_line_sets_the_lag() -> None:
    assert parse_arguments(["--replica-lag", "500ms±200ms"]).replica_lag == Latency(0.5, 0.2)
    assert parse_arguments(["--replica-lag", "500ms+-200ms"]).replica_lag == Latency(0.5, 0.2)
    assert parse_arguments(["--replica-lag", "500ms"]).replica_lag == Latency(0.5)
    assert parse_arguments([]).replica_lag is None


async def test_the_lag_can_be_changed_over_http(emulator: CosmosEmulator) -> None:
    url = f"{emulator.endpoint}_emulator/settings"
    async with ClientSession() as session:
        async with session.patch(url, data='{"replicaLag": "20ms+-10ms"}') as changed_to:
            assert (await changed_to.json())["replicaLag"] == "20ms±10ms"
        assert emulator.settings.replica_lag == Latency(0.02, 0.01)
        async with session.patch(url, data='{"replicaLag": null}') as off:
            assert (await off.json())["replicaLag"] is None
        assert emulator.settings.replica_lag is None
        for invalid in ("", "null", "[]", '{"replicaLag": 5}', '{"replicaLag": "5"}'):
            async with session.patch(url, data=invalid) as refused:
                assert refused.status == 400
        async with session.get(url, headers={"Origin": "http://elsewhere.example"}) as foreign:
            assert foreign.status == 403
        async with session.delete(url) as unknown:
            assert unknown.status == 405
        async with session.get(f"{emulator.endpoint}_emulator/replica-lag") as removed:
            assert removed.status == 404


async def _read_of_a_client(emulator: CosmosEmulator, level: str, session_token: str) -> int:
    """Return `n` of the item, which a client reads with a level and a session."""
    async with ClientSession() as session:
        headers = {"x-ms-consistency-level": level, "x-ms-session-token": session_token}
        return int((await RawClient(session, emulator).read_item("a", headers)).json["n"])


@pytest.mark.parametrize(
    ("level", "expected"), [("Strong", 20), ("BoundedStaleness", 10), ("Session", 15), ("ConsistentPrefix", 0)]
)
async def test_the_consistency_level_decides_how_old_a_state_is(
    emulator: CosmosEmulator, container: ContainerProxy, clock: Clock, level: Any, expected: int
) -> None:
    emulator.settings.replica_lag = Latency(3600)
    for n in range(21):
        await container.upsert_item({"id": "a", "pk": "p", "n": n})
        clock.advance(1000 if n == 0 else 500)
        if n == 15:
            headers: Any = container.client_connection.last_response_headers
    emulator.settings.replica_lag = Latency(3600 * 24)
    emulator.settings.consistency = level

    found = await _read_of_a_client(emulator, level, headers["x-ms-session-token"])

    assert found >= expected
    assert (found == 20) == (level == "Strong")
