"""Fixtures for tests of the moderation."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator

import pytest
from aiohttp import ClientSession

from addons.moderation.container import NAME
from shared.platform.database.container import Container
from tests.addons.web.browser.conftest import visit
from tests.addons.web.conftest import browser, chromium
from tests.api import Api
from tests.auth.conftest import MODERATOR, SignedIn, principal, with_sign_in
from tests.blog import Blog, EmulatorThread
from tests.items import unique
from tests.running_app import TRIGGERS, RunningApp, running_app

__all__ = ["browser", "chromium", "visit"]
MODERATION = {"BLOG_MODERATION": "1", "BLOG_MODERATOR_ROLE": MODERATOR}


@pytest.fixture
def with_moderation(monkeypatch: pytest.MonkeyPatch) -> None:
    """The database of `blog` has the container of the moderation, if this comes first (`usefixtures`)."""
    monkeypatch.setenv("BLOG_MODERATION", "1")


@pytest.fixture
def moderation(blog: Blog) -> Container:
    return blog.container(NAME)


@pytest.fixture(scope="module")
def app_service_app(emulator: EmulatorThread, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningApp]:
    """An app with the moderation, whose users sign in."""
    log = tmp_path_factory.mktemp("moderated") / "host.log"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("BLOG_MODERATION", "1")
        settings = with_sign_in(emulator)
    with running_app(settings, log, disabled=TRIGGERS, environment=MODERATION) as running:
        yield running


@pytest.fixture
async def session() -> AsyncIterator[ClientSession]:
    async with ClientSession() as opened:
        yield opened


@pytest.fixture
def signed_in(session: ClientSession, app_service_app: RunningApp) -> SignedIn:
    def of(subject: str) -> Api:
        return Api(session, app_service_app.url, app_service_app.openapi, headers=principal(subject))

    return of


@pytest.fixture
def stranger(session: ClientSession, app_service_app: RunningApp) -> Api:
    return Api(session, app_service_app.url, app_service_app.openapi)


@pytest.fixture
def moderator(session: ClientSession, app_service_app: RunningApp) -> Api:
    headers = principal(unique("moderator"), roles=[MODERATOR])
    return Api(session, app_service_app.url, app_service_app.openapi, headers=headers)
