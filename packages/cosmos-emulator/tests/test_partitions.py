"""The number of physical partitions of a container."""

from __future__ import annotations

from typing import Any

import pytest
from azure.cosmos import PartitionKey, ThroughputProperties
from azure.cosmos.aio import ContainerProxy, CosmosClient, DatabaseProxy
from cosmos_emulator import CosmosEmulator, EmulatorSettings


@pytest.fixture
def partitions() -> int:
    return EmulatorSettings().partitions


async def partitions_of(container: ContainerProxy) -> int:
    return len([feed_range async for feed_range in container.read_feed_ranges()])


def autoscale(ru_s: int) -> ThroughputProperties:
    return ThroughputProperties(auto_scale_max_throughput=ru_s)


@pytest.mark.parametrize(
    ("throughput", "count"),
    [(None, 1), (400, 1), (6_000, 1), (6_100, 2), (30_000, 5), (autoscale(10_000), 1), (autoscale(11_000), 2)],
)
async def test_a_container_has_a_partition_for_every_6000_ru_s_or_10000_with_autoscale(
    database: DatabaseProxy, throughput: Any, count: int
) -> None:
    container = await database.create_container("one", PartitionKey("/pk"), offer_throughput=throughput)

    assert await partitions_of(container) == count


@pytest.mark.parametrize("throughput", [25_000, autoscale(25_000)])
async def test_shared_throughput_decides_unless_a_container_has_its_own(client: CosmosClient, throughput: Any) -> None:
    shared = await client.create_database("shared", offer_throughput=throughput)

    assert await partitions_of(await shared.create_container("one", PartitionKey("/pk"))) == 3
    assert await partitions_of(await shared.create_container("own", PartitionKey("/pk"), offer_throughput=400)) == 1


async def test_a_container_has_at_least_the_configured_number_of_partitions(
    database: DatabaseProxy, emulator: CosmosEmulator
) -> None:
    emulator.settings.partitions = 2

    assert await partitions_of(await database.create_container("few", PartitionKey("/pk"))) == 2
    many = await database.create_container("many", PartitionKey("/pk"), offer_throughput=30_000)
    assert await partitions_of(many) == 5
