"""Pages while App Service authentication is selected, but the platform does not say that it is enabled."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from aiohttp import ClientSession

from tests.auth.conftest import principal, with_sign_in
from tests.blog import EmulatorThread
from tests.plain_http import PlainClient
from tests.running_app import TRIGGERS, RunningApp, running_app


@pytest.fixture(scope="module")
def app(emulator: EmulatorThread, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningApp]:
    settings = with_sign_in(emulator).model_copy(update={"platform_authenticates": ""})
    with running_app(settings, tmp_path_factory.mktemp("no-sign-in") / "host.log", disabled=TRIGGERS) as running:
        yield running


async def test_pages_are_shown_to_nobody_in_particular(session: ClientSession, app: RunningApp) -> None:
    site = PlainClient(session, app.url)
    assert (await site.get("/")).status == 200
    assert b'data-caller=""' in (await site.get("/write", principal("ada"))).content
