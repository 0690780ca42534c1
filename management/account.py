"""Connect management commands to the account and the blog's containers."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import TYPE_CHECKING, Any

from azure.cosmos.aio import CosmosClient
from azure.cosmos.exceptions import CosmosResourceNotFoundError

from management.addons import OpenAddon, open_addons
from management.errors import ManagementError
from shared.containers import FAILURES, FEED, POSTS, USERS, container_definitions
from shared.data.blog import Blog
from shared.platform.database.container import Container
from shared.platform.database.transport import SessionTransport
from shared.platform.deliveries.pacing import Pace
from shared.settings import Settings

if TYPE_CHECKING:
    from azure.identity.aio import DefaultAzureCredential

# Bulk loads wait out throttling instead of failing.
_THROTTLE_RETRIES = 1000
_THROTTLE_WAIT_S = 3600


class PacedTransport(SessionTransport):
    """Sends requests at the pace of renames, so that readers keep throughput."""

    def __init__(self) -> None:
        super().__init__()
        self._pace = Pace(ru_per_item=2)  # most are point reads

    async def _send(self, *arguments: Any, **options: Any) -> Any:
        async with self._pace.transaction(items=1):
            return await super()._send(*arguments, **options)


@asynccontextmanager
async def open_client(configuration: Settings, **options: Any) -> AsyncIterator[CosmosClient]:
    """Open a client that authenticates by key or identity. Raises AzureError.

    Unlike the app's client, it retries throttled requests for up to an hour. `options` override the client's.
    """
    credential = configuration.account.key or _identity()
    async with AsyncExitStack() as stack:
        if not isinstance(credential, str):
            stack.push_async_callback(credential.close)
        client = CosmosClient(
            configuration.account.endpoint,
            credential,
            **{
                "transport": SessionTransport(),
                "retry_throttle_total": _THROTTLE_RETRIES,
                "retry_throttle_backoff_max": _THROTTLE_WAIT_S,
                "user_agent_suffix": "blog-manage",
                **options,
            },
        )
        stack.push_async_callback(client.close)
        # __aenter__ reads the account's consistency level; without it, the client sends no session tokens.
        yield await client.__aenter__()


def _identity() -> DefaultAzureCredential:
    # Slow to import.
    from azure.identity.aio import DefaultAzureCredential

    return DefaultAzureCredential()


async def open_containers(client: CosmosClient, database: str) -> Blog:
    """Return the blog's containers, in one request. Raises ManagementError if any is missing."""
    return (await open_all(client, database))[0]


async def open_all(client: CosmosClient, database: str) -> tuple[Blog, list[OpenAddon]]:
    """Return the blog's containers, and the add-ons that have one, in one request. Raises ManagementError."""
    proxy = client.get_database_client(database)
    try:
        present = {properties["id"] async for properties in proxy.list_containers()}
    except CosmosResourceNotFoundError:
        raise ManagementError(f"Database {database!r} does not exist. Run `manage.py provision` first.") from None
    missing = [definition["id"] for definition in container_definitions() if definition["id"] not in present]
    if missing:
        names = ", ".join(missing)
        raise ManagementError(f"Database {database!r} lacks containers: {names}. Run `manage.py provision` first.")
    users, posts, feed, failures = (
        Container(proxy.get_container_client(name)) for name in (USERS, POSTS, FEED, FAILURES)
    )
    return Blog(users, posts, feed, failures), open_addons(proxy, present)
