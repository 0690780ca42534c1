"""More fixtures for API tests."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator

import pytest
from aiohttp import ClientSession

from shared.platform.database.client import connect
from shared.platform.settings import Account
from shared.settings import Settings
from tests.api import Api
from tests.blog import Blog, EmulatorThread, at
from tests.gateway import Gateway
from tests.instances import apps, clock, instances, lagging
from tests.items import unique
from tests.running_app import TRIGGERS, RunningApp, provisioned, running_app

__all__ = ["apps", "clock", "instances", "lagging"]


@pytest.fixture(scope="package")
def app(emulator: EmulatorThread, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningApp]:
    """The whole app on its own database, shared by a worker's tests of one package (a folder with `__init__.py`).

    It stops after them, because it polls its change feeds all the time.
    """
    settings = provisioned(Settings(account=Account(emulator.endpoint, emulator.key), database=unique("app")))
    with running_app(settings, tmp_path_factory.mktemp("app") / "host.log") as running:
        yield running


@pytest.fixture
async def stored(app: RunningApp, emulator: EmulatorThread) -> AsyncIterator[Blog]:
    """The database of `app`, to create or read states that requests cannot."""
    async with connect(app.settings) as client:
        yield Blog(emulator, app.settings, client.get_database_client(app.settings.database))


@pytest.fixture(scope="session")
def gateway(emulator: EmulatorThread) -> Iterator[Gateway]:
    """A proxy between the emulator and `quiet_app`."""
    with Gateway(emulator.endpoint) as listening:
        yield listening


@pytest.fixture(scope="package")
def quiet_app(app: RunningApp, gateway: Gateway, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningApp]:
    """A second process on the database of `app`, without change-feed functions."""
    settings = at(app.settings, gateway.endpoint)
    log = tmp_path_factory.mktemp("quiet-app") / "host.log"
    with running_app(settings, log, disabled=TRIGGERS) as running:
        yield running


@pytest.fixture
async def quiet_api(quiet_app: RunningApp) -> AsyncIterator[Api]:
    """A client of `quiet_app` after its first requests, which also read container properties and partition ranges."""
    async with ClientSession() as session:
        api = Api(session, quiet_app.url, quiet_app.openapi)
        for path in ("/api/users/unknown/posts", "/api/posts/unknown/comments", "/api/feed") * 2:
            await api.send("GET", path)
        yield api
