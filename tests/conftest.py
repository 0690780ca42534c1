"""One emulator for each worker of the test run, a database of its own for each test that asks for `blog`."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator

import pytest

from local.cosmos import EmulatorSettings
from tests.blog import Blog, EmulatorThread, new_blog


@pytest.fixture(scope="session")
def emulator() -> Iterator[EmulatorThread]:
    with EmulatorThread(EmulatorSettings()) as running:
        yield running


@pytest.fixture
async def blog(emulator: EmulatorThread) -> AsyncIterator[Blog]:
    async with new_blog(emulator) as provisioned:
        yield provisioned


@pytest.fixture(params=[False, True], ids=["own-writes-hidden", "own-writes-seen"])
def both_script_views(emulator: EmulatorThread, request: pytest.FixtureRequest) -> Iterator[None]:
    """Whether a query inside a script sees what the script has written: the service says only that it may not."""
    before = emulator.settings.script_queries_see_own_writes
    emulator.settings.script_queries_see_own_writes = request.param
    yield
    emulator.settings.script_queries_see_own_writes = before
