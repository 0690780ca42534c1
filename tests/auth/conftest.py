"""An app whose users sign in through App Service authentication, and their headers."""

from __future__ import annotations

import base64
import json
from collections.abc import AsyncIterator, Callable, Iterable, Iterator

import pytest
from aiohttp import ClientSession

from shared.platform.settings import Account, AuthMode
from shared.settings import Settings
from tests.api import Api, Json
from tests.blog import EmulatorThread
from tests.functions.conftest import app
from tests.items import unique
from tests.running_app import TRIGGERS, RunningApp, provisioned, running_app

__all__ = ["app"]

# Returns a client that is signed in as the subject.
SignedIn = Callable[[str], Api]
MODERATOR = "Moderator"


def principal(name: str, provider: str = "aad", *, roles: Iterable[str] = (), role_type: str = "roles") -> Json:
    """The headers that App Service adds, which a caller could forge."""
    of_roles = [{"typ": role_type, "val": role} for role in roles]
    claims = {"auth_typ": provider, "claims": [{"typ": "sub", "val": name}, *of_roles], "role_typ": role_type}
    return {
        "X-MS-CLIENT-PRINCIPAL": base64.b64encode(json.dumps(claims).encode()).decode(),
        "X-MS-CLIENT-PRINCIPAL-ID": name,
        "X-MS-CLIENT-PRINCIPAL-NAME": f"{name}@example.com",
        "X-MS-CLIENT-PRINCIPAL-IDP": provider,
    }


def with_sign_in(emulator: EmulatorThread) -> Settings:
    """The settings of an app in app-service mode, on a new database."""
    account = Account(emulator.endpoint, emulator.key)
    settings = Settings(
        account=account,
        database=unique("easy"),
        auth=AuthMode.APP_SERVICE,
        platform_authenticates="True",
    )
    return provisioned(settings)


@pytest.fixture(scope="session")
def app_service_app(emulator: EmulatorThread, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningApp]:
    log = tmp_path_factory.mktemp("easy") / "host.log"
    with running_app(with_sign_in(emulator), log, disabled=TRIGGERS) as running:
        yield running


@pytest.fixture(scope="module")
def app_without_platform(emulator: EmulatorThread, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningApp]:
    """An app that expects App Service authentication, which the platform does not enable."""
    settings = with_sign_in(emulator).model_copy(update={"platform_authenticates": ""})
    with running_app(settings, tmp_path_factory.mktemp("no-sign-in") / "host.log", disabled=TRIGGERS) as running:
        yield running


@pytest.fixture
async def session() -> AsyncIterator[ClientSession]:
    async with ClientSession() as opened:
        yield opened


@pytest.fixture
def stranger(session: ClientSession, app_service_app: RunningApp) -> Api:
    """A client that is not signed in."""
    return Api(session, app_service_app.url, app_service_app.openapi)


@pytest.fixture
def signed_in(session: ClientSession, app_service_app: RunningApp) -> SignedIn:
    def of(subject: str) -> Api:
        return Api(session, app_service_app.url, app_service_app.openapi, headers=principal(subject))

    return of


@pytest.fixture
def moderator(session: ClientSession, app_service_app: RunningApp) -> Api:
    headers = principal(unique("moderator"), roles=[MODERATOR])
    return Api(session, app_service_app.url, app_service_app.openapi, headers=headers)
