"""The app as deployed: no account key, and an identity with only data-plane roles."""

from __future__ import annotations

import asyncio
import base64
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from aiohttp import ClientSession, web
from aiohttp.test_utils import TestServer
from cosmos_emulator import EmulatorSettings

from management.account import signed_in
from management.lag import measure_lags
from shared.settings import Settings
from tests.api import Api
from tests.blog import EmulatorThread
from tests.items import unique
from tests.polling import eventually
from tests.running_app import RunningApp, provisioned, running_app

MANAGEMENT_KEY = base64.b64encode(b"what the deployment signs with").decode()


@pytest.fixture
def account() -> Iterator[Settings]:
    """A provisioned blog in an account with https and role-based access control."""
    settings = EmulatorSettings(tls=True, rbac=True, management_key=MANAGEMENT_KEY)
    with EmulatorThread(settings) as emulator:
        yield provisioned(Settings(emulator.endpoint, MANAGEMENT_KEY, unique("app")))


@pytest.fixture(params=["batch", "procedure"])
async def keyless_app(
    account: Settings, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, request: pytest.FixtureRequest
) -> AsyncIterator[RunningApp]:
    """The app in a process with an App Service managed identity (IDENTITY_ENDPOINT)."""

    async def token(asked: web.Request) -> web.Response:
        expires_on = str(int(time.time()) + 3600)
        return web.json_response(
            {
                "access_token": "header.payload.signature",
                "expires_on": expires_on,
                "resource": asked.query["resource"],
                "token_type": "Bearer",
            }
        )

    service = web.Application()
    service.router.add_get("/msi/token", token)
    async with TestServer(service) as identity:
        monkeypatch.setenv("IDENTITY_ENDPOINT", str(identity.make_url("/msi/token")))
        monkeypatch.setenv("IDENTITY_HEADER", "secret")
        settings = Settings(account.account_endpoint, None, account.database, request.param)
        with ExitStack() as stack:
            # In a thread, because this loop serves the app's token requests.
            starting = running_app(settings, tmp_path / "host.log")
            yield await asyncio.to_thread(stack.enter_context, starting)
            await asyncio.to_thread(stack.close)


async def test_the_app_works_with_only_data_plane_roles(keyless_app: RunningApp) -> None:
    openapi = await asyncio.to_thread(lambda: keyless_app.openapi)
    async with ClientSession() as session:
        api = Api(session, keyless_app.url, openapi)
        author = await api.new_user()
        post = await api.new_post(author)
        liked = await api.create_like(post["id"], author["id"])
        commented = await api.create_comment(post["id"], author["id"], "Well put.")
        health = await api.send("GET", "/api/health")

        async def in_the_feed() -> bool:
            return post["id"] in [item["id"] for item in (await api.get_feed()).body["items"]]

        await eventually(in_the_feed)
    async with signed_in(keyless_app.settings) as client:
        database = client.get_database_client(keyless_app.settings.database)
        lags = await measure_lags(database, account_endpoint=keyless_app.settings.account_endpoint)

    assert [answer.status for answer in (liked, commented, health)] == [201, 201, 200]
    uses_scripts = keyless_app.settings.transactions == "procedure"
    assert health.body["checks"].get("posts/createLike") == ("unchecked" if uses_scripts else None)
    assert {lag.state for lag in lags.values()} == {"known"}
