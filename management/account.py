"""The account that a command works on, and the blog's containers there."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TypeVar

from azure.cosmos.aio import CosmosClient
from azure.cosmos.exceptions import CosmosResourceNotFoundError

from management.errors import ManagementError
from shared.containers import FAILURES, FEED, POSTS, USERS, container_definitions
from shared.cosmos import Container, connect
from shared.errors import DatabaseThrottled
from shared.settings import Settings

T = TypeVar("T")


@dataclass(frozen=True)
class Blog:
    """The containers that hold the blog."""

    users: Container
    posts: Container
    feed: Container
    failures: Container


@asynccontextmanager
async def signed_in(configuration: Settings) -> AsyncIterator[CosmosClient]:
    """A client of the account, which reads its own writes. Raises the SDK's AzureError."""
    client = connect(configuration)
    try:
        # Entering asks the account for its consistency; without it the client sends no session tokens.
        await client.__aenter__()
        yield client
    finally:
        await client.close()


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


async def patiently(operation: Callable[[], Awaitable[T]]) -> T:
    """Run an operation again for as long as the database refuses it for rate: bulk work goes as fast as the provisioned
    throughput lets it, and a refused operation has written nothing."""
    while True:
        try:
            return await operation()
        except DatabaseThrottled as refusal:
            await asyncio.sleep(refusal.retry_after_s)
