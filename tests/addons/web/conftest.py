"""Fixtures for tests of the web site."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
from aiohttp import ClientSession

from tests.addons.web.pages import Site
from tests.api import Api
from tests.auth.conftest import app_service_app, app_without_platform, session
from tests.browser import browser, chromium
from tests.functions.conftest import app, gateway, quiet_api, quiet_app, stored
from tests.instances import apps, clock, instances, lagging
from tests.running_app import RunningApp

__all__ = [
    "app",
    "app_service_app",
    "app_without_platform",
    "apps",
    "browser",
    "chromium",
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


@pytest.fixture
async def site(app: RunningApp) -> AsyncIterator[Site]:
    async with ClientSession() as session:
        yield Site(session, app.url)
