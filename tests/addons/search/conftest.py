"""Fixtures for tests of the search."""

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
SEARCH = {"BLOG_SEARCH": "1"}


@pytest.fixture(scope="module")
def searched_app(emulator: EmulatorThread, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningApp]:
    """An app with the search, on its own database."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("BLOG_SEARCH", "1")
        settings = provisioned(Settings(account=Account(emulator.endpoint, emulator.key), database=unique("searched")))
    with running_app(settings, tmp_path_factory.mktemp("searched-app") / "host.log", environment=SEARCH) as running:
        yield running


@pytest.fixture
async def searched(searched_app: RunningApp) -> AsyncIterator[Api]:
    async with ClientSession() as session:
        yield Api(session, searched_app.url, searched_app.openapi)
