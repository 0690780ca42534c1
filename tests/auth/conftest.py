"""A token issuer, and an app that trusts it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

import pytest
from aiohttp import ClientSession

from shared.settings import Account, AuthMode, Settings
from tests.api import Api
from tests.auth.issuer import AUDIENCE, Issuer, bearer
from tests.blog import EmulatorThread
from tests.items import unique
from tests.running_app import TRIGGERS, RunningApp, provisioned, running_app

# Returns a client that sends a token for the subject.
SignedIn = Callable[[str], Api]


@pytest.fixture(scope="session")
def issuer() -> Iterator[Issuer]:
    """The issuer of `oidc_app`. Tests that change an issuer use their own."""
    with Issuer() as listening:
        yield listening


def trusting(issuer: Issuer) -> dict[str, Any]:
    return {"auth": AuthMode.OIDC, "issuer": issuer.url, "audience": AUDIENCE}


@pytest.fixture(scope="session")
def oidc_app(
    emulator: EmulatorThread, issuer: Issuer, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[RunningApp]:
    """The app in OIDC mode."""
    settings = provisioned(
        Settings(account=Account(emulator.endpoint, emulator.key), database=unique("oidc"), **trusting(issuer))
    )
    with running_app(settings, tmp_path_factory.mktemp("oidc") / "host.log", disabled=TRIGGERS) as running:
        yield running


@pytest.fixture
async def session() -> AsyncIterator[ClientSession]:
    async with ClientSession() as opened:
        yield opened


@pytest.fixture
def stranger(session: ClientSession, oidc_app: RunningApp) -> Api:
    """A client without a token."""
    return Api(session, oidc_app.url, oidc_app.openapi)


@pytest.fixture
def signed_in(session: ClientSession, oidc_app: RunningApp, issuer: Issuer) -> SignedIn:
    def of(subject: str) -> Api:
        return Api(session, oidc_app.url, oidc_app.openapi, headers=bearer(issuer.token(subject)))

    return of
