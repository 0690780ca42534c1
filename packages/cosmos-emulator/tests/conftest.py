"""An empty emulator for each test, with an asynchronous SDK client."""

from __future__ import annotations

from collections.abc import AsyncIterator

import hypothesis
import pytest
from aiohttp import ClientSession
from azure.cosmos import PartitionKey
from azure.cosmos.aio import ContainerProxy, CosmosClient, DatabaseProxy
from cosmos_emulator import CosmosEmulator, EmulatorSettings
from tests.clock import Clock
from tests.emulator_client import connected
from tests.raw_client import RawClient

# No time limits, because a busy machine must not fail a test.
hypothesis.settings.register_profile("project", deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow])
hypothesis.settings.load_profile("project")


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def partitions() -> int:
    """Physical partitions of a container: several, so that the SDK merges queries and feeds. Override it if needed."""
    return 4


@pytest.fixture
def settings(clock: Clock, partitions: int) -> EmulatorSettings:
    return EmulatorSettings(clock=clock, partitions=partitions)


@pytest.fixture
async def emulator(settings: EmulatorSettings) -> AsyncIterator[CosmosEmulator]:
    async with CosmosEmulator(settings) as running:
        yield running


@pytest.fixture
async def client(emulator: CosmosEmulator) -> AsyncIterator[CosmosClient]:
    async with connected(emulator) as client:
        yield client


@pytest.fixture
async def database(client: CosmosClient) -> DatabaseProxy:
    return await client.create_database("db")


@pytest.fixture
async def container(database: DatabaseProxy) -> ContainerProxy:
    return await database.create_container("items", PartitionKey("/pk"))


@pytest.fixture
async def raw(emulator: CosmosEmulator) -> AsyncIterator[RawClient]:
    async with ClientSession() as session:
        yield RawClient(session, emulator)
