"""Fixtures for tests of the web site."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator

import pytest
from aiohttp import ClientSession
from playwright.async_api import Browser

from shared.settings import Account, Settings
from tests.api import Api
from tests.auth.conftest import app_service_app, session
from tests.blog import EmulatorThread
from tests.browser import running_chromium
from tests.functions.conftest import app, gateway, quiet_api, quiet_app, stored
from tests.instances import apps, clock, instances, lagging
from tests.items import unique
from tests.running_app import RunningApp, provisioned, running_app
from tests.site.pages import Site

__all__ = [
    "app",
    "app_service_app",
    "apps",
    "clock",
    "gateway",
    "instances",
    "lagging",
    "quiet_api",
    "quiet_app",
    "session",
    "stored",
]


@pytest.fixture
def quiet_site(quiet_api: Api, quiet_app: RunningApp) -> Site:
    """A client of an app without change-feed functions, which has made its first requests."""
    return Site(quiet_api.session, quiet_app.url)


@pytest.fixture(scope="module")
def inspected_app(emulator: EmulatorThread, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningApp]:
    """An app with the inspector, on its own database."""
    settings = provisioned(
        Settings(account=Account(emulator.endpoint, emulator.key), database=unique("inspected"), inspector=True)
    )
    with running_app(settings, tmp_path_factory.mktemp("inspected-app") / "host.log") as running:
        yield running


@pytest.fixture
async def inspected(inspected_app: RunningApp) -> AsyncIterator[Api]:
    async with ClientSession() as session:
        yield Api(session, inspected_app.url, inspected_app.openapi)


@pytest.fixture
async def site(app: RunningApp) -> AsyncIterator[Site]:
    async with ClientSession() as session:
        yield Site(session, app.url)


@pytest.fixture(scope="session")
async def chromium() -> AsyncIterator[Browser]:
    """One browser per test worker."""
    async with running_chromium() as browser:
        yield browser


@pytest.fixture
async def browser(chromium: Browser) -> AsyncIterator[Browser]:
    """The browser, in which this test opens profiles of its own."""
    yield chromium
    for context in chromium.contexts:
        await context.close()
