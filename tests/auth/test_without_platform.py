"""App Service authentication is selected, but the platform does not say that it is enabled."""

from __future__ import annotations

from aiohttp import ClientSession

from tests.api import Api
from tests.auth.conftest import MODERATOR, principal
from tests.running_app import RunningApp


async def test_queries_are_served_and_forged_callers_refused(
    session: ClientSession, app_without_platform: RunningApp
) -> None:
    api = Api(
        session, app_without_platform.url, app_without_platform.openapi, headers=principal("ada", roles=[MODERATOR])
    )

    assert (await api.get_feed()).status == 200
    for answer in (await api.create_user("ada"), await api.delete_user("ada")):
        assert (answer.status, answer.body["detail"]) == (401, "App Service authentication is not enabled.")


async def test_health_and_the_log_say_so(session: ClientSession, app_without_platform: RunningApp) -> None:
    answer = await Api(session, app_without_platform.url, app_without_platform.openapi).get_health()

    assert (answer.status, answer.body["detail"]) == (503, "Not ready: sign-in.")
    assert app_without_platform.log_lines(containing="sign-in is not enabled")
