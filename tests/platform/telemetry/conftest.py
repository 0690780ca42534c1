"""An app whose spans and metrics go to a sink."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator

import pytest
from aiohttp import ClientSession

from shared.platform.database.client import connect
from shared.platform.settings import Account
from shared.settings import Settings
from tests.api import Api
from tests.blog import Blog, EmulatorThread
from tests.items import unique
from tests.platform.telemetry.sink import TelemetrySink
from tests.running_app import RunningApp, provisioned, running_app

# Short intervals, so that tests need not wait for the next export.
OFTEN = {"OTEL_BSP_SCHEDULE_DELAY": "50", "OTEL_METRIC_EXPORT_INTERVAL": "100"}


@pytest.fixture(scope="session")
def sink() -> Iterator[TelemetrySink]:
    with TelemetrySink() as listening:
        yield listening


@pytest.fixture(scope="session", params=["batch", "procedure"])
def traced_app(
    emulator: EmulatorThread,
    sink: TelemetrySink,
    tmp_path_factory: pytest.TempPathFactory,
    request: pytest.FixtureRequest,
) -> Iterator[RunningApp]:
    """The whole app with telemetry, on its own database."""
    settings = provisioned(
        Settings(
            account=Account(emulator.endpoint, emulator.key), database=unique("traced"), transactions=request.param
        )
    )
    environment = {"OTEL_EXPORTER_OTLP_ENDPOINT": sink.endpoint, **OFTEN}
    log = tmp_path_factory.mktemp("traced") / "host.log"
    sink.points.clear()  # of another process
    with running_app(settings, log, environment=environment) as running:
        yield running


@pytest.fixture
async def traced_api(traced_app: RunningApp) -> AsyncIterator[Api]:
    async with ClientSession() as session:
        yield Api(session, traced_app.url, traced_app.openapi)


@pytest.fixture
async def stored(traced_app: RunningApp, emulator: EmulatorThread) -> AsyncIterator[Blog]:
    """The database of `traced_app`."""
    async with connect(traced_app.settings) as client:
        yield Blog(emulator, traced_app.settings, client.get_database_client(traced_app.settings.database))
