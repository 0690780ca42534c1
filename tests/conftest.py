"""One emulator for each worker of the test run, a database of its own for each test that asks for `blog`."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator

import hypothesis
import pytest
from aiohttp import ClientSession
from cosmos_emulator import EmulatorSettings

from shared.settings import Settings
from tests.api import Api
from tests.blog import Blog, EmulatorThread, new_blog
from tests.items import unique
from tests.running_app import RunningApp, provisioned, running_app

# A loaded machine is slow, not wrong.
hypothesis.settings.register_profile("project", deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow])
hypothesis.settings.load_profile("project")


@pytest.fixture(scope="session")
def emulator() -> Iterator[EmulatorThread]:
    with EmulatorThread(EmulatorSettings(require_order_index=True)) as running:
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


@pytest.fixture(scope="session")
def app(emulator: EmulatorThread, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningApp]:
    """The whole app on a database of its own, for all tests of a worker; what they write there is theirs alone."""
    settings = provisioned(Settings(emulator.endpoint, emulator.key, unique("app")))
    with running_app(settings, tmp_path_factory.mktemp("app") / "host.log") as running:
        yield running


@pytest.fixture
async def api(app: RunningApp) -> AsyncIterator[Api]:
    async with ClientSession() as session:
        yield Api(session, app.url, app.openapi)
