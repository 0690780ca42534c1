"""Fixtures for tests of the inspector and the tour."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator

import pytest
from aiohttp import ClientSession

from shared.platform.settings import Account
from shared.settings import Settings
from tests.addons.web.conftest import browser, chromium, site
from tests.api import Api
from tests.blog import EmulatorThread
from tests.functions.conftest import app
from tests.items import unique
from tests.running_app import RunningApp, provisioned, running_app

__all__ = ["app", "browser", "chromium", "site"]
INSPECTOR = {"BLOG_INSPECTOR": "1"}


@pytest.fixture(scope="module")
def inspected_app(emulator: EmulatorThread, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningApp]:
    """An app with the inspector, on its own database."""
    settings = provisioned(Settings(account=Account(emulator.endpoint, emulator.key), database=unique("inspected")))
    with running_app(settings, tmp_path_factory.mktemp("inspected-app") / "host.log", environment=INSPECTOR) as running:
        yield running


@pytest.fixture
async def inspected(inspected_app: RunningApp) -> AsyncIterator[Api]:
    async with ClientSession() as session:
        yield Api(session, inspected_app.url, inspected_app.openapi)
