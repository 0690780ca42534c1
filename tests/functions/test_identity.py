"""The app as deployed: no account key, and an identity with only data-plane roles."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from aiohttp import ClientSession

from management.account import open_client
from management.lag import measure_lags
from shared.platform.settings import Account
from shared.settings import Settings
from tests.api import Api
from tests.identity import deployed_account, managed_identity
from tests.polling import eventually
from tests.running_app import RunningApp, running_app


@pytest.fixture
def account() -> Iterator[Settings]:
    with deployed_account() as settings:
        yield settings


@pytest.fixture(params=["batch", "procedure"])
async def keyless_app(
    account: Settings, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, request: pytest.FixtureRequest
) -> AsyncIterator[RunningApp]:
    """The app in a process with a managed identity."""
    async with managed_identity(monkeypatch):
        settings = Settings(
            account=Account(account.account.endpoint), database=account.database, transactions=request.param
        )
        with ExitStack() as stack:
            # In a thread, because this loop serves the app's token requests.
            starting = running_app(settings, tmp_path / "host.log")
            yield await asyncio.to_thread(stack.enter_context, starting)
            await asyncio.to_thread(stack.close)


@pytest.mark.nightly
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
    async with open_client(keyless_app.settings) as client:
        database = client.get_database_client(keyless_app.settings.database)
        lags = await measure_lags(database, account_endpoint=keyless_app.settings.account.endpoint)

    assert [answer.status for answer in (liked, commented, health)] == [201, 201, 200]
    uses_scripts = keyless_app.settings.transactions == "procedure"
    assert health.body["checks"].get("posts/createLike") == ("unchecked" if uses_scripts else None)
    assert {lag.state for lag in lags.values()} == {"known"}
