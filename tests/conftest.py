"""Shared fixtures: one emulator per test worker, and a new database for each test that uses `blog`."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Iterator
from unittest.mock import patch

import hypothesis
import pytest
from aiohttp import ClientSession
from cosmos_emulator import EmulatorSettings

from shared.settings import TransactionMode
from tests.api import Api
from tests.blog import Blog, EmulatorThread, new_blog
from tests.running_app import RunningApp

# No time limits, because a busy machine must not fail a test.
hypothesis.settings.register_profile("project", deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow])
hypothesis.settings.load_profile("project")


@pytest.fixture(autouse=True)
def restored_environment() -> Iterator[None]:
    """Undo what a test changes in the environment: `manage.py` adds local.settings.json to its own."""
    with patch.dict(os.environ):
        yield


@pytest.fixture(scope="session")
def emulator() -> Iterator[EmulatorThread]:
    # Several partitions, because queries and change feeds must work across them. On a busy machine, a script can take
    # longer than the service's limit of 5 s.
    with EmulatorThread(EmulatorSettings(partitions=2, script_time_limit_s=60)) as running:
        yield running


@pytest.fixture
def transaction_mode() -> TransactionMode:
    """The mode of `blog`, which some tests parametrize."""
    return "batch"


@pytest.fixture
async def blog(emulator: EmulatorThread, transaction_mode: TransactionMode) -> AsyncIterator[Blog]:
    async with new_blog(emulator, transaction_mode) as provisioned:
        yield provisioned


@pytest.fixture(scope="session")
async def shared_blog(emulator: EmulatorThread) -> AsyncIterator[Blog]:
    """One database per worker, for tests that read only the logical partitions that they write."""
    async with new_blog(emulator) as provisioned:
        yield provisioned


@pytest.fixture(params=[False, True], ids=["own-writes-hidden", "own-writes-seen"])
def both_script_views(emulator: EmulatorThread, request: pytest.FixtureRequest) -> Iterator[None]:
    """Run the test without and with script queries that see the script's own writes. The service guarantees neither."""
    before = emulator.settings.script_queries_see_own_writes
    emulator.settings.script_queries_see_own_writes = request.param
    yield
    emulator.settings.script_queries_see_own_writes = before


@pytest.fixture
async def api(app: RunningApp) -> AsyncIterator[Api]:
    async with ClientSession() as session:
        yield Api(session, app.url, app.openapi)
