"""Pages name the user whom App Service signed in, and only if the app trusts its headers."""

from __future__ import annotations

from aiohttp import ClientSession

from shared.platform.http.callers import caller_of
from tests.addons.web.pages import Site
from tests.api import Api
from tests.auth.conftest import principal
from tests.items import unique
from tests.running_app import RunningApp


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


async def test_a_page_ignores_principal_headers_in_function_key_mode(site: Site) -> None:
    page = (await site.get("/write", principal("ada") | {"Authorization": "Bearer a.b.c"})).page

    assert page.one("html")["data-caller"] == ""
