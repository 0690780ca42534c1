"""App Service authentication is selected, but the platform does not say that it is enabled."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from aiohttp import ClientSession

from tests.api import Api
from tests.auth.conftest import MODERATOR, principal, with_sign_in
from tests.blog import EmulatorThread
from tests.running_app import TRIGGERS, RunningApp, running_app


@pytest.fixture(scope="module")
def app(emulator: EmulatorThread, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningApp]:
    settings = with_sign_in(emulator).model_copy(update={"platform_authenticates": ""})
    with running_app(settings, tmp_path_factory.mktemp("no-sign-in") / "host.log", disabled=TRIGGERS) as running:
        yield running


async def test_queries_are_served_and_forged_callers_refused(session: ClientSession, app: RunningApp) -> None:
    api = Api(session, app.url, app.openapi, headers=principal("ada", roles=[MODERATOR]))

    assert (await api.get_feed()).status == 200
    for answer in (await api.create_user("ada"), await api.delete_user("ada", reason="x"), await api.list_reports()):
        assert (answer.status, answer.body["detail"]) == (401, "App Service authentication is not enabled.")


async def test_health_and_the_log_say_so(session: ClientSession, app: RunningApp) -> None:
    answer = await Api(session, app.url, app.openapi).get_health()

    assert (answer.status, answer.body["detail"]) == (503, "Not ready: sign-in.")
    assert app.log_lines(containing="sign-in is not enabled")
