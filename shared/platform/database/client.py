"""The client of this process, and its containers."""

from __future__ import annotations

import asyncio
import atexit
from functools import cache
from typing import Any

from async_lru import alru_cache
from azure.cosmos.aio import ContainerProxy, CosmosClient

from shared.platform import NAME
from shared.platform.database.container import Container
from shared.platform.database.refusals import database_errors
from shared.platform.database.retries import SILENCE_S, THROTTLE_RETRIES, THROTTLE_WAIT_S
from shared.platform.database.transport import SessionTransport
from shared.platform.settings import Settings, settings


def connect(configuration: Settings) -> CosmosClient:
    """Create a client that authenticates with the account key, or without one with the identity of the process."""
    credential: Any = configuration.account.key
    if not credential:
        # Slow to import, and not needed with an account key.
        from azure.identity.aio import DefaultAzureCredential

        credential = DefaultAzureCredential()
    return CosmosClient(
        configuration.account.endpoint,
        credential,
        retry_throttle_total=THROTTLE_RETRIES,
        retry_throttle_backoff_max=THROTTLE_WAIT_S,
        read_timeout=SILENCE_S,
        user_agent_suffix=NAME,
        # Otherwise, the SDK sends each Chinese or Arabic character as six bytes, instead of three or two.
        enable_compact_utf8_item_writes=True,
        transport=SessionTransport(),
    )


@cache
def _client() -> CosmosClient:
    client = connect(settings())
    # Otherwise aiohttp logs an error about open connections when the process ends.
    atexit.register(lambda: asyncio.run(client.close()))
    return client


@alru_cache(maxsize=1)
async def _enter_client() -> None:
    """Read the account, because only a client that knows its consistency level sends session tokens."""
    await _client().__aenter__()


@alru_cache(maxsize=None)
async def open_container(name: str) -> Container:
    """Return a container of the app's database. Raises SettingsError, DatabaseUnavailable.

    The first call for a container reads it, because a missing container would otherwise seem to be a missing item.
    """
    opened = get_container(name)
    with database_errors():
        await _enter_client()
        await opened.proxy.read()
    return opened


@cache
def get_container(name: str) -> Container:
    """Return a container without any request, for reads that need no session token. Raises SettingsError."""
    return Container(_client().get_database_client(settings().database).get_container_client(name))


async def has_multiple_write_regions(owner: CosmosClient | ContainerProxy) -> bool:
    """Return whether the account has multiple write regions, which can accept conflicting writes."""
    account = await owner.client_connection.GetDatabaseAccount()
    return bool(account._EnableMultipleWritableLocations)
