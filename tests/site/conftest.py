"""Fixtures for tests of the web site."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
from aiohttp import ClientSession

from tests.api import Api
from tests.functions.conftest import app, gateway, quiet_api, quiet_app, stored
from tests.functions.test_read_your_writes import apps, clock, instances, lagging
from tests.running_app import RunningApp
from tests.site.pages import Site

__all__ = ["app", "apps", "clock", "gateway", "instances", "lagging", "quiet_api", "quiet_app", "stored"]


@pytest.fixture
def quiet_site(quiet_api: Api, quiet_app: RunningApp) -> Site:
    """A client of an app without change-feed functions, which has made its first requests."""
    return Site(quiet_api.session, quiet_app.url)


@pytest.fixture
async def site(app: RunningApp) -> AsyncIterator[Site]:
    async with ClientSession() as session:
        yield Site(session, app.url)
