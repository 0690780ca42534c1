"""Secrets do not appear in logs, responses, or errors."""

from __future__ import annotations

import asyncio
import base64
from pathlib import Path

from aiohttp import ClientSession

from shared.platform.settings import Account
from tests.api import Api
from tests.auth.conftest import principal
from tests.blog import EmulatorThread
from tests.items import unique
from tests.running_app import TRIGGERS, RunningApp, running_app

WRONG_KEY = base64.b64encode(b"a key that the account does not have").decode()


async def test_a_rejected_account_key_is_not_revealed(
    session: ClientSession, emulator: EmulatorThread, app: RunningApp, tmp_path: Path
) -> None:
    settings = app.settings.model_copy(update={"account": Account(emulator.endpoint, WRONG_KEY)})

    with running_app(settings, tmp_path / "host.log", disabled=TRIGGERS) as running:
        openapi = await asyncio.to_thread(lambda: running.openapi)
        api = Api(session, running.url, openapi)
        answers = [await api.create_user(unique("ada")), await api.get_feed()]
        log = running.log.read_text(encoding="utf-8")

    assert [answer.status for answer in answers] == [503, 503]
    assert "database unavailable" in log
    for text in (log, *(answer.content.decode() + str(answer.headers) for answer in answers)):
        assert WRONG_KEY not in text
        assert WRONG_KEY.rstrip("=") not in text


async def test_a_principal_and_their_token_are_not_logged(session: ClientSession, app_service_app: RunningApp) -> None:
    name, token = unique("principal"), unique("token")
    # https://learn.microsoft.com/azure/app-service/configure-authentication-oauth-tokens
    tokens = {"Authorization": f"Bearer {token}", "X-MS-TOKEN-AAD-ACCESS-TOKEN": token}
    api = Api(session, app_service_app.url, app_service_app.openapi, headers=principal(name) | tokens)

    user = await api.new_user()
    await api.new_post(user)

    assert app_service_app.log_lines(containing='function="create_post"')
    assert not app_service_app.log_lines(containing=token)
    assert not app_service_app.log_lines(containing=name)
