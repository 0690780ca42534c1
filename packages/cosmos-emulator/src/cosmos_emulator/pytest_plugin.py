"""A pytest plugin: the fixture `cosmos` is an empty Azure Cosmos DB account for one test.

Installing the package registers it. A test only names the fixture:

    def test_an_item_can_be_read_back(cosmos):
        database = cosmos.client().create_database("shop")

    async def test_the_asynchronous_client_works_too(cosmos):
        async with cosmos.aio_client() as client:
            database = await client.create_database("shop")

Each test has its own emulator, in memory and on a free port, so tests can run in parallel. All emulators of a process
share one event loop in one thread.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from azure.cosmos import CosmosClient
    from azure.cosmos.aio import CosmosClient as AioCosmosClient

    from cosmos_emulator import CosmosEmulator, EmulatorSettings
    from cosmos_emulator.faults import Faults
    from cosmos_emulator.loop_thread import LoopThread

# The emulator is imported by the fixtures: pytest loads this module in every run, also where no test needs it.


class CosmosAccount:
    """The account of one test. Only `client` and `aio_client` need the package azure-cosmos."""

    def __init__(self, emulator: CosmosEmulator, clients: ExitStack) -> None:
        self._emulator = emulator
        self._clients = clients

    @property
    def endpoint(self) -> str:
        """The base URL, `http://127.0.0.1:{port}/`."""
        return self._emulator.endpoint

    @property
    def key(self) -> str:
        """The account key, base64."""
        return self._emulator.key

    @property
    def connection_string(self) -> str:
        """Endpoint and key in the form of a connection string."""
        return f"AccountEndpoint={self.endpoint};AccountKey={self.key};"

    @property
    def settings(self) -> EmulatorSettings:
        """The emulator's settings. See EmulatorSettings for the ones a test can change."""
        return self._emulator.settings

    @property
    def faults(self) -> Faults:
        """The fault rules, which a test can change at any time."""
        return self._emulator.faults

    def client(self, **options: Any) -> CosmosClient:
        """Create a synchronous client, closed after the test; options as for azure.cosmos.CosmosClient."""
        from azure.cosmos import CosmosClient

        client = CosmosClient(self.endpoint, self.key, **options)
        self._clients.enter_context(client)
        return client

    def aio_client(self, **options: Any) -> AioCosmosClient:
        """Create an asynchronous client. The test must close it: use `async with`."""
        from azure.cosmos.aio import CosmosClient

        return CosmosClient(self.endpoint, self.key, **options)


@pytest.fixture(scope="session")
def _cosmos_thread() -> Iterator[LoopThread]:
    from cosmos_emulator.loop_thread import LoopThread

    with LoopThread() as thread:
        yield thread


@pytest.fixture
def cosmos_settings() -> EmulatorSettings:
    """Settings of the test's emulator. Override this fixture in a module or in conftest.py."""
    from cosmos_emulator import EmulatorSettings

    return EmulatorSettings()


@pytest.fixture
def cosmos(_cosmos_thread: LoopThread, cosmos_settings: EmulatorSettings) -> Iterator[CosmosAccount]:
    """An empty Azure Cosmos DB account, removed after the test."""
    from cosmos_emulator import CosmosEmulator

    emulator = _cosmos_thread.run(CosmosEmulator(cosmos_settings).__aenter__())
    try:
        with ExitStack() as clients:
            yield CosmosAccount(emulator, clients)
    finally:
        emulator.faults.clear()  # or hanging requests would delay the shutdown
        _cosmos_thread.run(emulator.__aexit__(None, None, None))
