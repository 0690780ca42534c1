"""The account that a command works on, and the blog's containers there."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from azure.cosmos.aio import CosmosClient
from azure.cosmos.exceptions import CosmosResourceNotFoundError

from management.errors import ManagementError
from shared.charges import record_response
from shared.containers import FAILURES, FEED, POSTS, USERS, container_definitions
from shared.cosmos import Container
from shared.settings import Settings

if TYPE_CHECKING:
    from azure.identity.aio import DefaultAzureCredential

# Per operation: an account with little throughput makes a bulk load wait long, not fail.
_THROTTLE_RETRIES = 1000
_THROTTLE_WAIT_S = 3600


@dataclass(frozen=True)
class Blog:
    """The containers that hold the blog."""

    users: Container
    posts: Container
    feed: Container
    failures: Container


@asynccontextmanager
async def signed_in(configuration: Settings) -> AsyncIterator[CosmosClient]:
    """A client of the account, by key or with the identity of the process, which reads its own writes. Unlike the app's
    it is patient: bulk work goes as fast as the provisioned throughput lets it. Raises the SDK's AzureError."""
    credential = configuration.account_key or _identity()
    async with AsyncExitStack() as stack:
        if not isinstance(credential, str):
            stack.push_async_callback(credential.close)
        client = CosmosClient(
            configuration.account_endpoint,
            credential,
            raw_response_hook=record_response,
            retry_throttle_total=_THROTTLE_RETRIES,
            retry_throttle_backoff_max=_THROTTLE_WAIT_S,
            user_agent_suffix="blog-manage",
        )
        stack.push_async_callback(client.close)
        # Entering asks the account for its consistency; without it the client sends no session tokens.
        yield await client.__aenter__()


def _identity() -> DefaultAzureCredential:
    # Imported only where no key is given: it is slow to import.
    from azure.identity.aio import DefaultAzureCredential

    return DefaultAzureCredential()


async def open_blog(client: CosmosClient, database: str) -> Blog:
    """The containers of a provisioned database: one request. Raises ManagementError where they are not there."""
    proxy = client.get_database_client(database)
    try:
        present = {properties["id"] async for properties in proxy.list_containers()}
    except CosmosResourceNotFoundError:
        raise ManagementError(f"There is no database {database!r}; run `manage.py provision` first.") from None
    missing = [definition["id"] for definition in container_definitions() if definition["id"] not in present]
    if missing:
        names = ", ".join(missing)
        raise ManagementError(f"The database {database!r} has no {names}; run `manage.py provision` first.")
    return Blog(*(Container(proxy.get_container_client(name)) for name in (USERS, POSTS, FEED, FAILURES)))
