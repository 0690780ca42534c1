"""Microsoft's host with the blog, shared by the tests that do not kill it. Without a host, the tests are skipped."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass

import pytest
from aiohttp import ClientSession

from checks.real_host.real_host import KEY, RealHost, RealHostUnavailable, check_available, real_host
from shared.platform.settings import Account
from shared.settings import Settings
from tests.api import Api
from tests.blog import EmulatorThread
from tests.items import unique
from tests.running_app import provisioned, running_app


@pytest.fixture(scope="session", autouse=True)
def _available() -> None:
    try:
        check_available()
    except RealHostUnavailable as reason:
        if "REQUIRE_FUNC" in os.environ:
            raise
        pytest.skip(str(reason))


@dataclass(frozen=True)
class RealApp:
    """The blog on Microsoft's host, after the repository's host had run it and written the leases."""

    settings: Settings
    host: RealHost


@pytest.fixture(scope="session")
def real_app(emulator: EmulatorThread, tmp_path_factory: pytest.TempPathFactory, _available: None) -> Iterator[RealApp]:
    settings = provisioned(Settings(account=Account(emulator.endpoint, emulator.key), database=unique("real")))
    folder = tmp_path_factory.mktemp("real")
    with running_app(settings, folder / "functions-host.log"):
        pass
    with real_host(settings, folder / "real-host.log") as host:
        yield RealApp(settings, host)


@pytest.fixture
async def real_api(real_app: RealApp) -> AsyncIterator[Api]:
    async with ClientSession() as session:
        yield Api(session, real_app.host.url, real_app.host.get("/api/openapi.json"), headers=KEY)
