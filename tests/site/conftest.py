"""Fixtures for tests of the web site."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
from aiohttp import ClientSession

from tests.functions.conftest import gateway, quiet_api, quiet_app, stored
from tests.functions.test_read_your_writes import apps, clock, instances, lagging
from tests.running_app import RunningApp
from tests.site.pages import Site

__all__ = ["apps", "clock", "gateway", "instances", "lagging", "quiet_api", "quiet_app", "stored"]


@pytest.fixture
async def site(app: RunningApp) -> AsyncIterator[Site]:
    async with ClientSession() as session:
        yield Site(session, app.url)
