"""What tests of the API may ask for besides `app` and `api`."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator

import pytest
from aiohttp import ClientSession

from shared.cosmos import connect
from shared.settings import Settings
from tests.api import Api
from tests.blog import Blog, EmulatorThread
from tests.gateway import Gateway
from tests.running_app import TRIGGERS, RunningApp, running_app


@pytest.fixture
async def stored(app: RunningApp, emulator: EmulatorThread) -> AsyncIterator[Blog]:
    """The database of `app`, for what no request can bring about or show."""
    async with connect(app.settings) as client:
        yield Blog(emulator, app.settings, client.get_database_client(app.settings.database))


@pytest.fixture(scope="session")
def gateway(emulator: EmulatorThread) -> Iterator[Gateway]:
    """Between the emulator and `quiet_app`, and nobody else."""
    with Gateway(emulator.endpoint) as listening:
        yield listening


@pytest.fixture(scope="session")
def quiet_app(app: RunningApp, gateway: Gateway, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningApp]:
    """A second process on the database of `app` that listens to no change feed: all that passes its gateway is done for
    a request."""
    settings = Settings(gateway.endpoint, app.settings.account_key, app.settings.database)
    log = tmp_path_factory.mktemp("quiet-app") / "host.log"
    with running_app(settings, log, disabled=TRIGGERS) as running:
        yield running


@pytest.fixture
async def quiet_api(quiet_app: RunningApp) -> AsyncIterator[Api]:
    """Its process is warm: the first request to a container asks for the container's properties, too, and the first
    query that has a session token for its partitions."""
    async with ClientSession() as session:
        api = Api(session, quiet_app.url, quiet_app.openapi)
        for path in ("/api/users/unknown/posts", "/api/posts/unknown/comments", "/api/feed") * 2:
            await api.send("GET", path)
        yield api
