"""App Service authentication with `sign_in`."""

from __future__ import annotations

import base64
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from aiohttp import ClientSession, CookieJar
from functions_host import FunctionsHost
from tests.running import running, write_app

APP = """
import json, os
@app.route(route='who', methods=['GET', 'POST'])
def who(req):
    found = {name: value for name, value in req.headers.items() if name.startswith('x-ms-')}
    enabled = os.environ.get('WEBSITE_AUTH_ENABLED')
    return json.dumps({'headers': found, 'enabled': enabled, 'size': len(req.get_body())})
"""
FORGED = {
    "X-MS-CLIENT-PRINCIPAL": "forged",
    "x-ms-client-principal-id": "forged",
    "X-Ms-Client-Principal-Idp": "forged",
    "X-MS-TOKEN-AAD-ACCESS-TOKEN": "forged",
}


@pytest.fixture
async def host(tmp_path: Path) -> AsyncIterator[FunctionsHost]:
    async with running(write_app(tmp_path, APP), sign_in=True) as host:
        yield host


@pytest.fixture
async def browser() -> AsyncIterator[ClientSession]:
    """A client that keeps cookies, also of an IP address."""
    async with ClientSession(cookie_jar=CookieJar(unsafe=True)) as session:
        yield session


async def who(browser: ClientSession, host: FunctionsHost, **request: Any) -> dict[str, Any]:
    async with browser.get(f"{host.url}/api/who", **request) as response:
        return dict(await response.json(content_type=None))


async def sign_in(
    browser: ClientSession, host: FunctionsHost, name: str = "Ada", query: str = "", roles: str | None = None
) -> str:
    """Fill in the form, and return where it redirects."""
    async with browser.get(f"{host.url}/.auth/login/aad{query}") as form:
        assert (form.status, form.content_type) == (200, "text/html")
    data = {"name": name} if roles is None else {"name": name, "roles": roles}
    sent = browser.post(f"{host.url}/.auth/login/aad{query}", data=data, allow_redirects=False)
    async with sent as response:
        assert response.status == 302
        return response.headers["Location"]


async def test_a_session_adds_the_principals_headers(browser: ClientSession, host: FunctionsHost) -> None:
    await sign_in(browser, host, "Ada Löwe")

    headers = (await who(browser, host))["headers"]

    assert headers["x-ms-client-principal-idp"] == "aad"
    assert headers["x-ms-client-principal-name"] == "Ada Löwe"
    decoded = json.loads(base64.b64decode(headers["x-ms-client-principal"]))
    assert decoded["auth_typ"] == "aad"
    assert headers["x-ms-client-principal-id"] in [claim["val"] for claim in decoded["claims"]]


async def test_a_name_is_always_the_same_person(browser: ClientSession, host: FunctionsHost) -> None:
    ids = []
    for name in ("Ada", "Grace", "Ada"):
        await sign_in(browser, host, name)
        ids.append((await who(browser, host))["headers"]["x-ms-client-principal-id"])

    assert ids[0] == ids[2] != ids[1]


@pytest.mark.parametrize("roles", [None, "", " , ,"])
async def test_a_session_without_roles_is_as_before_roles_existed(
    browser: ClientSession, host: FunctionsHost, roles: str | None
) -> None:
    await sign_in(browser, host, roles=roles)

    headers = (await who(browser, host))["headers"]

    (cookie,) = browser.cookie_jar
    assert cookie.value == base64.b64encode(b'["aad", "Ada"]').decode()
    claims = "http://schemas.xmlsoap.org/ws/2005/05/identity/claims"
    person = "a52beade-768d-50c1-816f-7c75696007c2"
    principal = (
        f'{{"auth_typ": "aad", "claims": [{{"typ": "{claims}/nameidentifier", "val": "{person}"}}, '
        f'{{"typ": "{claims}/name", "val": "Ada"}}], "name_typ": "{claims}/name", "role_typ": "roles"}}'
    )
    assert headers == {
        "x-ms-client-principal": base64.b64encode(principal.encode()).decode(),
        "x-ms-client-principal-id": person,
        "x-ms-client-principal-name": "Ada",
        "x-ms-client-principal-idp": "aad",
    }


async def test_roles_are_claims_of_another_type_than_the_role_type(browser: ClientSession, host: FunctionsHost) -> None:
    """As with Microsoft Entra ID, so an app that reads only claims of the role type finds none."""
    await sign_in(browser, host, roles=" Moderator,Blog.Read , ,Moderator")

    decoded = json.loads(base64.b64decode((await who(browser, host))["headers"]["x-ms-client-principal"]))
    async with browser.get(f"{host.url}/.auth/me") as response:
        (principal,) = await response.json()

    assert decoded["role_typ"] == "http://schemas.microsoft.com/ws/2008/06/identity/claims/role"
    for claims in (decoded["claims"], principal["user_claims"]):
        assert [claim["val"] for claim in claims if claim["typ"] == "roles"] == ["Moderator", "Blog.Read"]


async def test_roles_do_not_change_who_someone_is(browser: ClientSession, host: FunctionsHost) -> None:
    ids = []
    for roles in ("", "Moderator"):
        await sign_in(browser, host, roles=roles)
        ids.append((await who(browser, host))["headers"]["x-ms-client-principal-id"])

    assert ids[0] == ids[1]


async def test_the_most_and_longest_roles_fit_into_a_cookie(browser: ClientSession, host: FunctionsHost) -> None:
    roles = [f"{number}".rjust(120, "~") for number in range(10)]

    await sign_in(browser, host, "\U0001f600" * 100, roles=",".join(roles))

    (cookie,) = browser.cookie_jar
    assert len(cookie.key + cookie.value) <= 4096  # RFC 6265, section 6.1
    decoded = json.loads(base64.b64decode((await who(browser, host))["headers"]["x-ms-client-principal"]))
    assert [claim["val"] for claim in decoded["claims"] if claim["typ"] == "roles"] == roles


@pytest.mark.parametrize(
    "roles",
    ["a" * 121, ",".join("abcdefghijk"), "Blog Moderator", 'a"b', "a\\b", "a\nb", "<b>\u00e9</b>", "\U0001f600"],
)
async def test_roles_that_microsoft_entra_id_does_not_allow_are_refused(
    browser: ClientSession, host: FunctionsHost, roles: str
) -> None:
    async with browser.post(f"{host.url}/.auth/login/aad", data={"name": "Ada", "roles": roles}) as response:
        assert (response.status, response.cookies, response.content_type) == (400, {}, "text/plain")
        assert roles not in await response.text()


@pytest.mark.parametrize(
    "headers", [{"Origin": "https://evil.example"}, {"Origin": "null"}, {"Sec-Fetch-Site": "cross-site"}]
)
async def test_pages_of_other_sites_cannot_sign_someone_in(
    browser: ClientSession, host: FunctionsHost, headers: dict[str, str]
) -> None:
    form = {"name": "Ada", "roles": "Moderator"}
    async with browser.post(f"{host.url}/.auth/login/aad", data=form, headers=headers) as response:
        assert (response.status, response.cookies) == (403, {})


async def test_the_page_of_the_form_can_sign_someone_in(browser: ClientSession, host: FunctionsHost) -> None:
    headers = {"Origin": host.url, "Sec-Fetch-Site": "same-origin"}
    sent = browser.post(f"{host.url}/.auth/login/aad", data={"name": "Ada"}, headers=headers, allow_redirects=False)
    async with sent as response:
        assert response.status == 302


async def test_the_form_identifies_its_page_whatever_headers_the_app_sets(
    browser: ClientSession, tmp_path: Path
) -> None:
    """With no-referrer, browsers send `Origin: null`: https://fetch.spec.whatwg.org/#append-a-request-origin-header"""
    app = write_app(tmp_path, APP)
    headers = {"customHeaders": {"Referrer-Policy": "no-referrer"}}
    (app / "host.json").write_text(json.dumps({"version": "2.0", "extensions": {"http": headers}}))
    async with running(app, sign_in=True) as host, browser.get(f"{host.url}/.auth/login/aad") as response:
        assert response.headers["Referrer-Policy"] == "same-origin"
        assert 'name="roles"' in await response.text()


async def test_forged_headers_are_removed(browser: ClientSession, host: FunctionsHost) -> None:
    anonymous = await who(browser, host, headers=FORGED)
    await sign_in(browser, host)
    signed_in = await who(browser, host, headers=FORGED)

    assert anonymous["headers"] == {}
    assert "forged" not in signed_in["headers"].values()
    assert signed_in["headers"]["x-ms-client-principal-name"] == "Ada"


@pytest.mark.parametrize(
    "cookie",
    [
        "x",
        "W10=",
        "eyJhIjogMX0=",
        "W1sxXSwgMl0=",
        "WyJhYWQiLCAiIl0=",
        "W1tb" * 1500,
        "WzEsICJBZGEiXQ==",
        *(
            base64.b64encode(json.dumps(["aad", "Ada", *roles]).encode()).decode()
            for roles in ([1], [None], [["Moderator"]], [""], ["a b"], ["a"] * 11)
        ),
    ],
)
async def test_an_invalid_session_is_none(browser: ClientSession, host: FunctionsHost, cookie: str) -> None:
    assert (await who(browser, host, cookies={"AppServiceAuthSession": cookie}))["headers"] == {}


async def test_me_describes_the_principal(browser: ClientSession, host: FunctionsHost) -> None:
    async with browser.get(f"{host.url}/.auth/me") as response:
        assert response.status == 401
    await sign_in(browser, host)

    async with browser.get(f"{host.url}/.auth/me") as response:
        (principal,) = await response.json()

    assert (principal["provider_name"], principal["user_id"]) == ("aad", "Ada")
    subject = (await who(browser, host))["headers"]["x-ms-client-principal-id"]
    assert subject in [claim["val"] for claim in principal["user_claims"]]


async def test_sign_out_ends_the_session(browser: ClientSession, host: FunctionsHost) -> None:
    await sign_in(browser, host)

    async with browser.get(f"{host.url}/.auth/logout") as response:
        assert (response.status, response.url.path) == (200, "/.auth/logout/done")

    assert (await who(browser, host))["headers"] == {}


async def test_the_redirects_lead_to_paths_of_the_site(browser: ClientSession, host: FunctionsHost) -> None:
    query = "?post_login_redirect_uri=%2Fposts%2F%25C3%25A9%3Fa%3Db"
    signed_out = browser.get(f"{host.url}/.auth/logout?post_logout_redirect_uri=/posts/1", allow_redirects=False)

    assert await sign_in(browser, host) == "/"
    assert await sign_in(browser, host, query=query) == "/posts/%C3%A9?a=b"
    async with signed_out as response:
        assert response.headers["Location"] == "/posts/1"


@pytest.mark.parametrize("target", ["//evil.example", "/\\evil.example", "https://evil.example", "x", "/a%0D%0AX:%20y"])
async def test_other_redirects_are_refused(browser: ClientSession, host: FunctionsHost, target: str) -> None:
    login = f"{host.url}/.auth/login/aad?post_login_redirect_uri={target}"
    logout = f"{host.url}/.auth/logout?post_logout_redirect_uri={target}"

    async with browser.post(login, data={"name": "Ada"}) as response:
        assert (response.status, response.cookies) == (400, {})
    async with browser.get(logout) as response:
        assert response.status == 400


@pytest.mark.parametrize("name", ["", " ", "a" * 101, "a\nb"])
async def test_an_invalid_name_is_refused(browser: ClientSession, host: FunctionsHost, name: str) -> None:
    async with browser.post(f"{host.url}/.auth/login/aad", data={"name": name}) as response:
        assert (response.status, response.cookies) == (400, {})


@pytest.mark.parametrize("path", ["", "login", "login/<b>", "refresh", "me/x"])
async def test_other_paths_do_not_exist(browser: ClientSession, host: FunctionsHost, path: str) -> None:
    async with browser.get(f"{host.url}/.auth/{path}") as response:
        assert response.status == 404


async def test_the_app_sees_that_authentication_is_enabled(browser: ClientSession, host: FunctionsHost) -> None:
    async with browser.post(f"{host.url}/api/who", data=b"12345") as response:
        answer = await response.json(content_type=None)

    assert answer == {"headers": {}, "enabled": "True", "size": 5}


async def test_without_sign_in_requests_are_unchanged(browser: ClientSession, tmp_path: Path) -> None:
    async with running(write_app(tmp_path, APP)) as host:
        answer = await who(browser, host, headers=FORGED)
        async with browser.get(f"{host.url}/.auth/me") as response:
            assert response.status == 404

    assert set(answer["headers"]) == {name.lower() for name in FORGED}
    assert answer["enabled"] is None
