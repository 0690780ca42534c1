"""Pages while App Service authentication is selected, but the platform does not say that it is enabled."""

from __future__ import annotations

from aiohttp import ClientSession

from tests.auth.conftest import principal
from tests.plain_http import PlainClient
from tests.running_app import RunningApp


async def test_pages_are_shown_to_nobody_in_particular(
    session: ClientSession, app_without_platform: RunningApp
) -> None:
    site = PlainClient(session, app_without_platform.url)
    assert (await site.get("/")).status == 200
    assert b'data-caller=""' in (await site.get("/write", principal("ada"))).content
