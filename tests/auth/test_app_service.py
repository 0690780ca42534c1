"""App Service authentication. The app trusts its headers only in app-service mode."""

from __future__ import annotations

import pytest
from aiohttp import ClientSession

from shared.platform.http.callers import caller_of
from tests.api import Api
from tests.auth.conftest import principal
from tests.items import unique
from tests.running_app import RunningApp


async def test_a_principal_can_act_only_as_their_own_user(session: ClientSession, app_service_app: RunningApp) -> None:
    url, openapi = app_service_app.url, app_service_app.openapi
    ada, grace, stranger = (
        Api(session, url, openapi, headers=headers)
        for headers in (principal(unique("ada")), principal(unique("grace")), {})
    )

    user, other = await ada.new_user(), await grace.new_user()
    post = await ada.new_post(user)
    answers = (
        await ada.edit_post(post["id"], "A title", "Edited."),
        await grace.edit_post(post["id"], "A title", "Forged."),
        await grace.create_post(user["id"], "A title", "Forged."),
        await grace.create_like(post["id"], other["id"]),
        await ada.create_user(unique("ada")),
        await stranger.edit_post(post["id"], "A title", "Forged."),
        await stranger.get_post(post["id"]),
    )

    assert [answer.status for answer in answers] == [200, 403, 403, 201, 409, 401, 200]
    assert user["id"] != other["id"]


@pytest.mark.parametrize(
    "headers",
    [
        {"X-MS-CLIENT-PRINCIPAL-ID": "ada"},
        {"X-MS-CLIENT-PRINCIPAL-IDP": "aad"},
        principal(""),
        principal("a" * 256),
        principal("ключ"),
        {"Authorization": "Bearer a.b.c"},
    ],
    ids=str,
)
async def test_an_incomplete_principal_returns_401(
    session: ClientSession, app_service_app: RunningApp, headers: dict[str, str]
) -> None:
    api = Api(session, app_service_app.url, app_service_app.openapi, headers=headers)

    assert (await api.create_user(unique("ada"))).status == 401


async def test_providers_and_principals_map_to_different_users() -> None:
    names = [("app-service:aad", "x"), ("app-service:google", "x"), ("app-service:aad", "y")]

    assert len({caller_of(*name).user for name in names}) == 3


async def test_principal_headers_are_ignored_in_function_key_mode(api: Api) -> None:
    """Tokens are ignored too: callers with a function key name the user in the body."""
    headers = principal("ada") | {"Authorization": "Bearer a.b.c"}

    users = [await api.create_user(unique("ada"), headers) for _ in range(2)]
    post = await api.create_post(users[0].body["id"], "A title", "Some content.", headers)
    edited = await api.edit_post(post.body["id"], "A title", "Edited.", principal("grace"))

    assert [answer.status for answer in (*users, post, edited)] == [201, 201, 201, 200]
    assert users[0].body["id"] != users[1].body["id"]
