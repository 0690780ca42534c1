"""An account without keys for its users, and the managed identity of a process.

The emulator accepts any token. `DefaultAzureCredential` gets one from a local token service, as in App Service.
"""

from __future__ import annotations

import base64
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer
from cosmos_emulator import EmulatorSettings

from shared.platform.settings import Account
from shared.settings import Settings
from tests.blog import EmulatorThread
from tests.items import unique
from tests.running_app import provisioned

MANAGEMENT_KEY = base64.b64encode(b"what the deployment signs with").decode()


@contextmanager
def deployed_account(actions: frozenset[str] | None = None) -> Iterator[Settings]:
    """Run an account with https, whose users have a role with `actions`; return the settings of its deployment."""
    settings = EmulatorSettings(tls=True, rbac=True, rbac_actions=actions, management_key=MANAGEMENT_KEY)
    with EmulatorThread(settings) as emulator:
        yield provisioned(Settings(account=Account(emulator.endpoint, MANAGEMENT_KEY), database=unique("app")))


@asynccontextmanager
async def managed_identity(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[None]:
    """Give this process and its children an App Service managed identity, served by the event loop."""

    async def token(asked: web.Request) -> web.Response:
        expires_on = str(int(time.time()) + 3600)
        return web.json_response(
            {
                "access_token": "header.payload.signature",
                "expires_on": expires_on,
                "resource": asked.query["resource"],
                "token_type": "Bearer",
            }
        )

    service = web.Application()
    service.router.add_get("/msi/token", token)
    async with TestServer(service) as listening:
        monkeypatch.setenv("IDENTITY_ENDPOINT", str(listening.make_url("/msi/token")))
        monkeypatch.setenv("IDENTITY_HEADER", "secret")
        monkeypatch.setenv("AZURE_TOKEN_CREDENTIALS", "ManagedIdentityCredential")  # as in infra/main.bicep
        yield
