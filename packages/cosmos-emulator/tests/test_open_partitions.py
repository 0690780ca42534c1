"""Idle partitions are closed, and opened again when they are used."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from azure.cosmos import PartitionKey
from azure.cosmos.aio import ContainerProxy, CosmosClient, DatabaseProxy
from cosmos_emulator import WELL_KNOWN_KEY, CosmosEmulator, EmulatorSettings
from cosmos_emulator.latency import Latency
from cosmos_emulator.store import account as account_module
from cosmos_emulator.store.index_definition import IndexDefinition, IndexPart
from cosmos_emulator.store.partition import Partition
from tests.clock import Clock
from tests.processes import emulator_process

MOST = 3
COUNT = 10
WITH_256_DESCRIPTORS = ("sh", "-c", 'ulimit -n 256; exec "$@"', "sh")
CONTAINERS = 50
PARTITIONS = 60


@pytest.fixture(params=["memory", "disk"])
def settings(request: pytest.FixtureRequest, clock: Clock, tmp_path: Path) -> EmulatorSettings:
    return EmulatorSettings(clock=clock, data_dir=tmp_path if request.param == "disk" else None)


@pytest.fixture(autouse=True)
def _few_open(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(account_module, "most_partitions", lambda: MOST)


@pytest.fixture
async def others(database: DatabaseProxy) -> list[ContainerProxy]:
    return [await database.create_container(f"other{n}", PartitionKey("/pk")) for n in range(MOST)]


@pytest.fixture
def partition(emulator: CosmosEmulator, container: ContainerProxy) -> Partition:
    """The only partition of `container`."""
    (found,) = next(one for one in _containers(emulator) if one.resource.id == container.id).partitions
    return found


def _containers(emulator: CosmosEmulator) -> list[Any]:
    found: list[Any] = emulator.controls._gateway.account.containers
    return found


async def _use(containers: list[ContainerProxy]) -> None:
    for one in containers:
        await one.upsert_item({"id": "x", "pk": "p"})


async def _ids(container: ContainerProxy, **options: Any) -> list[str]:
    return [item["id"] async for item in container.query_items("SELECT c.id FROM c", **options)]


def _open(emulator: CosmosEmulator) -> list[str]:
    return [one.resource.id for one in _containers(emulator) if any(part.is_open for part in one.partitions)]


async def test_the_partitions_used_last_stay_open(emulator: CosmosEmulator, database: DatabaseProxy) -> None:
    containers = [await database.create_container(f"c{n}", PartitionKey("/pk")) for n in range(COUNT)]
    await _use(containers)
    assert _open(emulator) == ["c7", "c8", "c9"]

    await _use([containers[7], containers[2]])

    assert _open(emulator) == ["c2", "c7", "c9"]
    for one in containers:
        assert (await one.read_item("x", "p"))["id"] == "x"
        await one.create_item({"id": "y", "pk": "p"})
        assert await _ids(one, partition_key="p") == ["x", "y"]


async def test_a_query_and_a_change_feed_continue_in_a_closed_partition(
    container: ContainerProxy, partition: Partition, others: list[ContainerProxy]
) -> None:
    for n in range(4):
        await container.create_item({"id": str(n), "pk": "p", "n": n % 3})
    pages = container.query_items("SELECT DISTINCT VALUE c.n FROM c", partition_key="p", max_item_count=1).by_page()
    found = [row async for row in await anext(pages)]
    changes = container.query_items_change_feed(start_time="Beginning", partition_key="p", max_item_count=2).by_page()
    seen = [item["id"] async for item in await anext(changes)]

    await _use(others)
    assert not partition.is_open

    found += [row async for page in pages async for row in page]
    seen += [item["id"] async for page in changes async for item in page]
    assert (found, seen) == ([0, 1, 2], ["0", "1", "2", "3"])


async def test_a_transaction_keeps_its_partition_open(
    container: ContainerProxy, partition: Partition, others: list[ContainerProxy]
) -> None:
    await container.create_item({"id": "a", "pk": "p"})
    async with partition.transaction() as items:
        await _use(others)

        assert partition.is_open
        assert items.count_all() == 1


async def test_a_state_that_replicas_serve_keeps_its_partition_open(
    emulator: CosmosEmulator,
    container: ContainerProxy,
    partition: Partition,
    others: list[ContainerProxy],
    clock: Clock,
) -> None:
    await container.create_item({"id": "a", "pk": "p"})
    emulator.settings.replica_lag = Latency.parse("10s")
    await container.create_item({"id": "b", "pk": "p"})
    await _use(others)

    async with CosmosClient(emulator.endpoint, emulator.key) as stranger:
        seen_by_stranger = stranger.get_database_client("db").get_container_client("items")
        assert await _ids(seen_by_stranger, partition_key="p") == ["a"]
        clock.advance(11)
        await _use(others)
        emulator.controls._gateway.account.background.purge()
        assert not partition.is_open
        assert await _ids(seen_by_stranger, partition_key="p") == ["a", "b"]


async def test_a_closed_partition_gets_a_new_definition(
    database: DatabaseProxy,
    container: ContainerProxy,
    partition: Partition,
    others: list[ContainerProxy],
    clock: Clock,
) -> None:
    await container.create_item({"id": "a", "pk": "p", "n": 1})
    await _use(others)
    assert not partition.is_open

    policy = {"includedPaths": [{"path": "/n/?"}], "excludedPaths": [{"path": "/*"}]}
    await database.replace_container("items", PartitionKey("/pk"), default_ttl=5, indexing_policy=policy)
    # Work in the background can open it once more.
    async with asyncio.timeout(60):
        while partition.is_open:
            await _use(others)

    assert {one.definition.parts[0].path for one in partition.indexes} == {("n",)}
    clock.advance(6)
    assert await _ids(container, partition_key="p") == []


async def test_an_index_that_a_query_wants_in_a_closed_partition_is_built(
    emulator: CosmosEmulator, container: ContainerProxy, partition: Partition, others: list[ContainerProxy]
) -> None:
    await container.create_item({"id": "a", "pk": "p", "n": 1})
    await _use(others)
    wanted = IndexDefinition((IndexPart(("n",)),), is_local=False)
    assert not partition.is_open

    partition.want_index(wanted)
    await emulator.controls._gateway.account.background.idle()

    assert [one.definition for one in partition.indexes] == [wanted]


async def test_a_deleted_container_is_not_opened_again(
    database: DatabaseProxy, container: ContainerProxy, partition: Partition, others: list[ContainerProxy]
) -> None:
    await container.create_item({"id": "a", "pk": "p"})
    await database.delete_container("items")

    await _use(others)

    assert not partition.is_open
    with pytest.raises(Exception, match="deleted"):
        partition.committed.count_all()


def _descriptors(pid: int) -> int:
    return len(list(Path(f"/proc/{pid}/fd").iterdir()))


@pytest.fixture
async def limited() -> AsyncIterator[tuple[int, CosmosClient]]:
    """The process of an emulator with 256 descriptors, and a client."""
    async with (
        emulator_process("--memory", launcher=WITH_256_DESCRIPTORS) as (process, endpoint),
        CosmosClient(endpoint, WELL_KNOWN_KEY) as client,
    ):
        yield process.pid, client


@pytest.mark.nightly
@pytest.mark.skipif(sys.platform != "linux", reason="only Linux shows the descriptors of another process")
async def test_few_descriptors_suffice_for_many_containers(limited: tuple[int, CosmosClient]) -> None:
    pid, client = limited
    database = await client.create_database("db")
    containers = [await database.create_container(f"c{n}", PartitionKey("/pk")) for n in range(CONTAINERS)]
    most = 0

    async def traffic(first: int) -> None:
        nonlocal most
        for n in range(first, first + CONTAINERS):
            one = containers[n % CONTAINERS]
            await one.create_item({"id": str(first), "pk": "p"})
            assert str(first) in await _ids(one, partition_key="p")
            assert (await one.read_item(str(first), "p"))["pk"] == "p"
            most = max(most, _descriptors(pid))

    await asyncio.gather(*(traffic(first) for first in range(0, CONTAINERS, 10)))

    assert most < 200
    for one in containers:
        assert len(await _ids(one, partition_key="p")) == CONTAINERS // 10


@pytest.mark.nightly
@pytest.mark.skipif(sys.platform != "linux", reason="only Linux shows the descriptors of another process")
async def test_few_descriptors_suffice_for_many_partitions(limited: tuple[int, CosmosClient]) -> None:
    pid, client = limited
    database = await client.create_database("db")
    container = await database.create_container("c", PartitionKey("/pk"), offer_throughput=PARTITIONS * 6000)
    for n in range(2 * PARTITIONS):
        await container.create_item({"id": str(n), "pk": str(n)})

    async def rows(query: str) -> list[Any]:
        return [row async for row in container.query_items(query)]

    async def changes() -> list[Any]:
        return [item async for item in container.query_items_change_feed(start_time="Beginning")]

    texts = ("SELECT c.id FROM c", "SELECT VALUE COUNT(1) FROM c", "SELECT c.pk FROM c ORDER BY c.pk")
    found = await asyncio.gather(*(rows(text) for text in 3 * texts), *(changes() for _ in range(3)))

    assert [len(one) for one in found] == 3 * [2 * PARTITIONS, 1, 2 * PARTITIONS] + 3 * [2 * PARTITIONS]
    assert _descriptors(pid) < 200
