"""A pytest plugin: the fixture `cosmos` gives a test an Azure Cosmos DB account of its own, empty and in this process.

    # conftest.py at the root of the tests, or: pytest -p cosmos_emulator.pytest_plugin
    pytest_plugins = ["cosmos_emulator.pytest_plugin"]

    def test_an_item_is_found_again(cosmos):
        database = cosmos.client().create_database("shop")

    async def test_the_same_with_the_asynchronous_client(cosmos):
        async with cosmos.aio_client() as client:
            database = await client.create_database("shop")

Each test has a whole emulator, on a free port and in memory, so that tests may run in any order and number beside each
other (pytest-xdist) and change settings or add faults for themselves. All emulators of a test process live on one
event loop in one thread, which is why synchronous tests and tests on any event loop can use them.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

import pytest

from cosmos_emulator import CosmosEmulator, EmulatorSettings
from cosmos_emulator.faults import Faults
from cosmos_emulator.loop_thread import LoopThread

if TYPE_CHECKING:
    from azure.cosmos import CosmosClient
    from azure.cosmos.aio import CosmosClient as AioCosmosClient


class CosmosAccount:
    """What a test gets. `client` and `aio_client` need the package azure-cosmos, the rest needs none."""

    def __init__(self, emulator: CosmosEmulator, clients: ExitStack) -> None:
        self._emulator = emulator
        self._clients = clients

    @property
    def endpoint(self) -> str:
        """`http://127.0.0.1:{port}/`"""
        return self._emulator.endpoint

    @property
    def key(self) -> str:
        """The account key, base64."""
        return self._emulator.key

    @property
    def connection_string(self) -> str:
        """For apps that take it from a setting."""
        return f"AccountEndpoint={self.endpoint};AccountKey={self.key};"

    @property
    def settings(self) -> EmulatorSettings:
        """Those that may change while an emulator runs may be changed by the test."""
        return self._emulator.settings

    @property
    def faults(self) -> Faults:
        """What strikes requests; rules may be added at any time."""
        return self._emulator.faults

    def client(self, **options: Any) -> CosmosClient:
        """A synchronous client, closed after the test. `options` are those of azure.cosmos.CosmosClient."""
        from azure.cosmos import CosmosClient

        client = CosmosClient(self.endpoint, self.key, **options)
        self._clients.enter_context(client)
        return client

    def aio_client(self, **options: Any) -> AioCosmosClient:
        """An asynchronous client, to be closed by the test, on whose event loop it lives: use `async with`."""
        from azure.cosmos.aio import CosmosClient

        return CosmosClient(self.endpoint, self.key, **options)


@pytest.fixture(scope="session")
def _cosmos_thread() -> Iterator[LoopThread]:
    with LoopThread() as thread:
        yield thread


@pytest.fixture
def cosmos_settings() -> EmulatorSettings:
    """How the emulator of a test starts. Override it in a module or conftest.py: one partition, a clock, a data
    directory, throttling."""
    return EmulatorSettings()


@pytest.fixture
def cosmos(_cosmos_thread: LoopThread, cosmos_settings: EmulatorSettings) -> Iterator[CosmosAccount]:
    """An account for this test alone: empty at the start, gone at the end."""
    emulator = _cosmos_thread.run(CosmosEmulator(cosmos_settings).__aenter__())
    try:
        with ExitStack() as clients:
            yield CosmosAccount(emulator, clients)
    finally:
        emulator.faults.clear()  # requests that hang by one would hold up the end
        _cosmos_thread.run(emulator.__aexit__(None, None, None))
