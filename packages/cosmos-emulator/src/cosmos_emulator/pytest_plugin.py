"""A pytest plugin: the fixture `cosmos` gives each test an empty Azure Cosmos DB account.

    def test_sync(cosmos):
        database = cosmos.client().create_database("shop")

    async def test_async(cosmos):
        async with cosmos.aio_client() as client:
            database = await client.create_database("shop")

pytest loads the plugin automatically. Each account is an in-memory emulator on a free port, so tests can run in any
order or in parallel (pytest-xdist), change settings, and add faults. All emulators of a process share an event loop in
a background thread, so the fixture works in synchronous tests and on any event loop.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

import pytest

from cosmos_emulator import EmulatorSettings

# pytest imports the plugin in every run, so the emulator is imported on use.
if TYPE_CHECKING:
    from azure.cosmos import CosmosClient
    from azure.cosmos.aio import CosmosClient as AioCosmosClient

    from cosmos_emulator import CosmosEmulator
    from cosmos_emulator.faults import Faults
    from cosmos_emulator.loop_thread import LoopThread


class CosmosAccount:
    """The account of one test. `client` and `aio_client` need azure-cosmos."""

    def __init__(self, emulator: CosmosEmulator, clients: ExitStack) -> None:
        self._emulator = emulator
        self._clients = clients

    @property
    def endpoint(self) -> str:
        """The base URL, `http://127.0.0.1:{port}/`."""
        return self._emulator.endpoint

    @property
    def key(self) -> str:
        """The account key, in base64."""
        return self._emulator.key

    @property
    def connection_string(self) -> str:
        """The connection string, `AccountEndpoint=…;AccountKey=…;`."""
        return f"AccountEndpoint={self.endpoint};AccountKey={self.key};"

    @property
    def settings(self) -> EmulatorSettings:
        """The emulator's settings; `EmulatorSettings` says which can change."""
        return self._emulator.settings

    @property
    def faults(self) -> Faults:
        """The fault rules, which can change at any time."""
        return self._emulator.faults

    def client(self, **options: Any) -> CosmosClient:
        """Create a synchronous client, closed after the test.

        `options` are passed to azure.cosmos.CosmosClient.
        """
        from azure.cosmos import CosmosClient

        client = CosmosClient(self.endpoint, self.key, **options)
        self._clients.enter_context(client)
        return client

    def aio_client(self, **options: Any) -> AioCosmosClient:
        """Create an asynchronous client. Close it on its own event loop: use `async with`.

        `options` are passed to azure.cosmos.aio.CosmosClient.
        """
        from azure.cosmos.aio import CosmosClient

        return CosmosClient(self.endpoint, self.key, **options)


@pytest.fixture(scope="session")
def _cosmos_thread() -> Iterator[LoopThread]:
    from cosmos_emulator.loop_thread import LoopThread

    with LoopThread() as thread:
        yield thread


@pytest.fixture
def cosmos_settings() -> EmulatorSettings:
    """The settings of each test's emulator. Override it in a test module or conftest.py."""
    return EmulatorSettings()


@pytest.fixture
def cosmos(_cosmos_thread: LoopThread, cosmos_settings: EmulatorSettings) -> Iterator[CosmosAccount]:
    """An empty account, deleted after the test."""
    from cosmos_emulator import CosmosEmulator

    emulator = _cosmos_thread.run(CosmosEmulator(cosmos_settings).__aenter__())
    try:
        with ExitStack() as clients:
            yield CosmosAccount(emulator, clients)
    finally:
        emulator.faults.clear()  # hanging requests would delay shutdown
        _cosmos_thread.run(emulator.__aexit__(None, None, None))
