"""App Service authentication. The app trusts its headers only in app-service mode."""

from __future__ import annotations

import pytest
from aiohttp import ClientSession

from shared.auth.callers import signed_in as caller_of
from tests.api import Api
from tests.auth.conftest import principal
from tests.items import unique
from tests.running_app import RunningApp
from tests.site.pages import Site


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


async def test_a_page_names_the_user_of_its_session(session: ClientSession, app_service_app: RunningApp) -> None:
    ada = principal(unique("ada"))
    user = await Api(session, app_service_app.url, app_service_app.openapi, headers=ada).new_user()
    site = Site(session, app_service_app.url)

    own, anonymous = await site.get("/write", ada), await site.get("/write")
    again = await site.get("/write", {"If-None-Match": own.headers["etag"]})

    assert own.page.one("html")["data-caller"] == user["id"]
    assert anonymous.page.one("html")["data-caller"] == ""
    # A cache that keeps a page has to ask, and gets another page for another person.
    assert (own.headers["cache-control"], anonymous.headers["cache-control"]) == ("private, no-cache", "no-cache")
    assert (again.status, again.headers["etag"]) == (200, anonymous.headers["etag"])


async def test_an_error_page_names_the_user_too(session: ClientSession, app_service_app: RunningApp) -> None:
    missing = await Site(session, app_service_app.url).get("/posts/unknown", principal("ada"))

    assert missing.status == 404
    assert missing.page.one("html")["data-caller"] == str(caller_of("app-service:aad", "ada").user)


async def test_principal_headers_are_ignored_in_function_key_mode(api: Api) -> None:
    """Tokens are ignored too: callers with a function key name the user in the body."""
    headers = principal("ada") | {"Authorization": "Bearer a.b.c"}

    users = [await api.create_user(unique("ada"), headers) for _ in range(2)]
    post = await api.create_post(users[0].body["id"], "A title", "Some content.", headers)
    edited = await api.edit_post(post.body["id"], "A title", "Edited.", principal("grace"))
    page = await Site(api.session, api.url).get("/write", headers)

    assert [answer.status for answer in (*users, post, edited)] == [201, 201, 201, 200]
    assert users[0].body["id"] != users[1].body["id"]
    assert page.page.one("html")["data-caller"] == ""
