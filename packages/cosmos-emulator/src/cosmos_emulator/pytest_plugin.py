"""A pytest plugin: the fixture `cosmos` gives each test an empty Azure Cosmos DB account.

    def test_sync(cosmos):
        database = cosmos.client().create_database("shop")

    @pytest.mark.cosmos(partitions=4, replica_lag="500ms")
    async def test_async(cosmos):
        async with cosmos.aio_client() as client:
            database = await client.create_database("shop")

The fixture `cosmos_session` is one account for all tests of the session, which can restore snapshots.

pytest loads the plugin automatically. Each account is an in-memory emulator on a free port, so tests can run in any
order or in parallel (pytest-xdist), change settings, and add faults. All emulators of a process share an event loop in
a background thread, so the fixtures work in synchronous tests and on any event loop.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from cosmos_emulator import EmulatorSettings
from cosmos_emulator.faults import Faults
from cosmos_emulator.latency import Latency

# pytest imports the plugin in every run, so the emulator is imported on use.
if TYPE_CHECKING:
    from azure.cosmos import CosmosClient
    from azure.cosmos.aio import CosmosClient as AioCosmosClient

    from cosmos_emulator import CosmosEmulator
    from cosmos_emulator.recording import Recording
    from cosmos_emulator.runtime.clock import AdjustableClock
    from cosmos_emulator.runtime.loop_thread import LoopThread


# With faults, a health check can last longer than its test should.
_HEALTH_CHECK_S = 5


class CosmosAccount:
    """An account, used by one test or by all of a session. `client` and `aio_client` need azure-cosmos."""

    def __init__(self, emulator: CosmosEmulator, thread: LoopThread, clients: ExitStack) -> None:
        self._emulator = emulator
        self._thread = thread
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

    @property
    def clock(self) -> AdjustableClock:
        """The clock, which can be frozen and advanced. Raises TypeError if the settings have another."""
        return self._emulator.clock

    def recording(self) -> AbstractContextManager[Recording]:
        """Record the requests that are answered during a `with` block, and their charges."""
        return self._emulator.recording()

    def reset(self) -> None:
        """Delete everything."""
        self._thread.run(self._emulator.controls.reset())

    def snapshot(self, name: str) -> None:
        """Keep a copy of the account under a name, or replace it."""
        self._thread.run(self._emulator.controls.snapshot(name))

    def restore(self, name: str) -> None:
        """Replace the account with a snapshot. Raises CosmosError (404) if there is none."""
        self._thread.run(self._emulator.controls.restore(name))

    def export_to(self, file: Path) -> None:
        """Write the account to a JSON Lines file."""
        self._thread.run(self._emulator.controls.export_to(file))

    def import_from(self, file: Path) -> None:
        """Replace the account with a file that `export_to` wrote. Raises CosmosError that names an invalid line."""
        self._thread.run(self._emulator.controls.import_from(file))

    def client(self, **options: Any) -> CosmosClient:
        """Create a synchronous client, closed with the account.

        `options` are passed to azure.cosmos.CosmosClient.
        """
        from azure.cosmos import CosmosClient

        client = CosmosClient(self.endpoint, self.key, **options)
        self._clients.enter_context(client)
        self._clients.callback(_end_health_checks)
        return client

    def aio_client(self, **options: Any) -> AioCosmosClient:
        """Create an asynchronous client. Close it on its own event loop: use `async with`.

        `options` are passed to azure.cosmos.aio.CosmosClient.
        """
        from azure.cosmos.aio import CosmosClient

        return CosmosClient(self.endpoint, self.key, **options)


def _end_health_checks() -> None:
    """Wait for the thread that each synchronous client starts (azure-cosmos 4.17, _global_endpoint_manager.py).

    If the client is closed meanwhile, the thread logs an error.
    """
    for thread in threading.enumerate():
        if thread.name == "cosmos-endpoint-refresh":
            thread.join(_HEALTH_CHECK_S)


@pytest.fixture(scope="session")
def _cosmos_thread() -> Iterator[LoopThread]:
    from cosmos_emulator.runtime.loop_thread import LoopThread

    with LoopThread() as thread:
        yield thread


@pytest.fixture
def cosmos_settings() -> EmulatorSettings:
    """The settings of each test's emulator. Override it in a test module or conftest.py."""
    return EmulatorSettings()


@pytest.fixture(scope="session")
def cosmos_session_settings() -> EmulatorSettings:
    """The settings of the session's emulator. Override it in conftest.py."""
    return EmulatorSettings()


@pytest.fixture
def cosmos(
    request: pytest.FixtureRequest, _cosmos_thread: LoopThread, cosmos_settings: EmulatorSettings
) -> Iterator[CosmosAccount]:
    """An empty account, deleted after the test. `pytest.mark.cosmos` changes its settings."""
    with _account(_cosmos_thread, replace(cosmos_settings, **_marked(request.node))) as account:
        yield account


@pytest.fixture(scope="session")
def cosmos_session(_cosmos_thread: LoopThread, cosmos_session_settings: EmulatorSettings) -> Iterator[CosmosAccount]:
    """An account for all tests of the session, or of each worker of pytest-xdist."""
    with _account(_cosmos_thread, cosmos_session_settings) as account:
        yield account


@contextmanager
def _account(thread: LoopThread, settings: EmulatorSettings) -> Iterator[CosmosAccount]:
    from cosmos_emulator import CosmosEmulator

    emulator = thread.run(CosmosEmulator(settings).__aenter__())
    try:
        with ExitStack() as clients:
            yield CosmosAccount(emulator, thread, clients)
    finally:
        emulator.faults.clear()  # hanging requests would delay shutdown
        thread.run(emulator.__aexit__(None, None, None))


def pytest_configure(config: pytest.Config) -> None:
    """Declare the marker."""
    config.addinivalue_line(
        "markers",
        "cosmos(**settings): settings of the account of the fixture `cosmos` (EmulatorSettings), "
        "such as partitions=4 or replica_lag='500ms'.",
    )


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Fail a test whose marker is invalid or has no effect."""
    if _marked(item) and "cosmos" not in getattr(item, "fixturenames", ()):
        pytest.fail(
            "pytest.mark.cosmos has no effect, because the test does not use the fixture `cosmos`.", pytrace=False
        )


def _marked(item: pytest.Item) -> dict[str, Any]:
    """Return the settings of an item's markers; the closest marker wins. Fails the test if one is invalid."""
    changes: dict[str, Any] = {}
    for marker in reversed(list(item.iter_markers("cosmos"))):
        if marker.args:
            pytest.fail(f"pytest.mark.cosmos takes settings by name, not {marker.args[0]!r}.", pytrace=False)
        changes |= marker.kwargs
    try:
        return {name: _setting(name, value) for name, value in changes.items()}
    except (TypeError, ValueError) as error:
        pytest.fail(f"pytest.mark.cosmos: {error}", pytrace=False)


def _setting(name: str, value: object) -> object:
    """Return a setting, parsed from a text if it is a duration. Raises TypeError and ValueError."""
    known = [field.name for field in fields(EmulatorSettings) if field.init]
    if name not in known:
        raise TypeError(f"{name!r} is not a setting; use {', '.join(known)}")
    if name in ("latency", "replica_lag") and isinstance(value, str):
        return Latency.parse(value)
    if name == "faults" and isinstance(value, list | tuple):
        return Faults(*value)
    setattr(EmulatorSettings(), name, value)  # checks it
    return value
