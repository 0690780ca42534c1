"""An empty emulator for each test, or a real account (real_account.py), with an asynchronous SDK client."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import nullcontext

import hypothesis
import pytest
from aiohttp import ClientSession
from azure.cosmos import PartitionKey
from azure.cosmos.aio import ContainerProxy, CosmosClient, DatabaseProxy
from cosmos_emulator import CosmosEmulator, EmulatorSettings
from tests.clock import Clock
from tests.emulator_client import connected
from tests.raw_client import RawClient
from tests.real_account import ACCOUNT, RealAccount

from tests import real_account

# No time limits, because a busy machine must not fail a test.
hypothesis.settings.register_profile("project", deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow])
hypothesis.settings.load_profile("project")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "emulator_only(reason): cannot run against a real account")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if ACCOUNT is not None:
        real_account.select(config, items)


def pytest_runtest_teardown(item: pytest.Item) -> None:
    if ACCOUNT is not None:
        real_account.stop_at_the_cap(ACCOUNT, item.session)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    if ACCOUNT is not None:
        terminalreporter.write_line(f"{ACCOUNT.spent:.0f} RU of {ACCOUNT.endpoint}")


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


@pytest.fixture(scope="session")
def _reserved() -> Iterator[None]:
    with real_account.reserved(ACCOUNT) if ACCOUNT is not None else nullcontext():
        yield


@pytest.fixture
async def emulator(settings: EmulatorSettings, _reserved: None) -> AsyncIterator[CosmosEmulator | RealAccount]:
    if ACCOUNT is not None:
        yield ACCOUNT
        return
    async with CosmosEmulator(settings) as running:
        yield running


@pytest.fixture
async def client(emulator: CosmosEmulator) -> AsyncIterator[CosmosClient]:
    async with connected(emulator) as client:
        yield client


@pytest.fixture
async def database(client: CosmosClient) -> AsyncIterator[DatabaseProxy]:
    if ACCOUNT is None:
        yield await client.create_database(real_account.DATABASE)
        return
    async with real_account.emptied_database(ACCOUNT, client) as database:
        yield database


@pytest.fixture
async def container(database: DatabaseProxy) -> ContainerProxy:
    return await database.create_container("items", PartitionKey("/pk"))


@pytest.fixture
async def raw(emulator: CosmosEmulator) -> AsyncIterator[RawClient]:
    async with ClientSession() as session:
        yield RawClient(session, emulator)
