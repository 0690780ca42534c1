"""App Service authentication. The app trusts its headers only in app-service mode."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator

import pytest
from aiohttp import ClientSession

from shared.auth.callers import signed_in as caller_of
from shared.settings import Account, AuthMode, Settings
from tests.api import Api
from tests.auth.conftest import SignedIn
from tests.auth.issuer import Issuer
from tests.blog import EmulatorThread
from tests.items import unique
from tests.running_app import TRIGGERS, RunningApp, provisioned, running_app


def principal(name: str, provider: str = "aad") -> dict[str, str]:
    """The headers that App Service adds, which a caller could forge."""
    claims = {"auth_typ": provider, "claims": [{"typ": "sub", "val": name}]}
    return {
        "X-MS-CLIENT-PRINCIPAL": base64.b64encode(json.dumps(claims).encode()).decode(),
        "X-MS-CLIENT-PRINCIPAL-ID": name,
        "X-MS-CLIENT-PRINCIPAL-NAME": f"{name}@example.com",
        "X-MS-CLIENT-PRINCIPAL-IDP": provider,
    }


@pytest.fixture(scope="session")
def app_service_app(emulator: EmulatorThread, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningApp]:
    settings = provisioned(
        Settings(
            account=Account(emulator.endpoint, emulator.key),
            database=unique("easy"),
            auth=AuthMode.APP_SERVICE,
            platform_authenticates="True",
        )
    )
    with running_app(settings, tmp_path_factory.mktemp("easy") / "host.log", disabled=TRIGGERS) as running:
        yield running


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


async def test_principal_headers_do_not_replace_a_token(stranger: Api) -> None:
    answer = await stranger.create_user(unique("ada"), principal("ada"))

    assert answer.status == 401


async def test_principal_headers_do_not_override_a_token(signed_in: SignedIn, issuer: Issuer) -> None:
    victim, subject = signed_in(unique("victim")), unique("mallory")
    user = await victim.new_user()
    forged = principal(user["id"])

    made = await signed_in(subject).create_user(unique("mallory"), forged)
    acted = await signed_in(subject).create_post(user["id"], "A title", "Forged.", forged)

    assert made.body["id"] == str(caller_of(issuer.url, subject).user)
    assert acted.status == 403


async def test_principal_headers_are_ignored_in_function_key_mode(api: Api) -> None:
    """Tokens are ignored too: callers with a function key name the user in the body."""
    headers = principal("ada") | {"Authorization": "Bearer a.b.c"}

    users = [await api.create_user(unique("ada"), headers) for _ in range(2)]
    post = await api.create_post(users[0].body["id"], "A title", "Some content.", headers)
    edited = await api.edit_post(post.body["id"], "A title", "Edited.", principal("grace"))

    assert [answer.status for answer in (*users, post, edited)] == [201, 201, 201, 200]
    assert users[0].body["id"] != users[1].body["id"]
