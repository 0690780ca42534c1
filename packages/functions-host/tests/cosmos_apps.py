"""A Cosmos DB account with a monitored container, and apps with a trigger on it."""

from __future__ import annotations

import asyncio
import shutil
import sys
import time
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from azure.core.pipeline.transport import AioHttpTransport
from azure.cosmos import PartitionKey
from azure.cosmos.aio import ContainerProxy, CosmosClient, DatabaseProxy
from azure.cosmos.exceptions import CosmosResourceNotFoundError
from tests.running import app_module

Call = tuple[list[str], int, list[dict[str, Any]]]
"""IDs, retry count and items of one call."""

KEY = "a2V5"

FAST = {
    "feed_poll_delay": 50,
    "lease_acquire_interval": 150,
    "lease_renew_interval": 300,
    "lease_expiration_interval": 1500,
}


@dataclass
class Clock:
    """The account's clock. A negative `offset_s` gives new items an older `_ts`."""

    offset_s: float = 0

    def __call__(self) -> float:
        return time.time() + self.offset_s


@dataclass(frozen=True)
class Account:
    """An account with the database `db` and its container `items`, partitioned by `/pk`."""

    endpoint: str
    key: str
    client: CosmosClient
    database: DatabaseProxy
    items: ContainerProxy

    @property
    def environment(self) -> dict[str, str]:
        """The app setting that the triggers' `connection` names."""
        return {"COSMOS": f"AccountEndpoint={self.endpoint};AccountKey={self.key};"}

    async def write(self, *ids: str, pk: str | None = None, **properties: Any) -> None:
        """Upsert items, by default each in its own logical partition."""
        for item_id in ids:
            await self.items.upsert_item({"id": item_id, "pk": pk or item_id, **properties})

    async def lease_items(self, container: str = "leases") -> list[dict[str, Any]]:
        """Return the leases, without marker and lock, ordered by ID."""
        proxy = self.database.get_container_client(container)
        try:
            found = [item async for item in proxy.read_all_items()]
        except CosmosResourceNotFoundError:
            return []
        return sorted((item for item in found if "LeaseToken" in item), key=lambda item: item["id"])

    async def checkpoints(self) -> list[str | None]:
        """Return the continuation token of each lease."""
        return [item["ContinuationToken"] for item in await self.lease_items()]

    async def has_checkpoint(self) -> bool:
        """Return whether a lease has a continuation token."""
        return any(await self.checkpoints())


@asynccontextmanager
async def connected(endpoint: str, key: str) -> AsyncIterator[Account]:
    """Create the database and the container unless they exist."""
    # By default, aiohttp looks up proxies before every request, in a thread.
    transport = AioHttpTransport(use_env_settings=False)
    async with CosmosClient(endpoint, key, transport=transport) as client:
        database = await client.create_database_if_not_exists("db")
        items = await database.create_container_if_not_exists("items", PartitionKey("/pk"))
        yield Account(endpoint, key, client, database, items)


@asynccontextmanager
async def emulator_process(data_dir: Path, port: int = 0) -> AsyncIterator[Account]:
    """Run `cosmos-emulator`, which keeps its data and can be restarted on the same port."""
    command = shutil.which("cosmos-emulator", path=Path(sys.executable).parent)
    assert command is not None
    process = await asyncio.create_subprocess_exec(
        command, "--data-dir", data_dir, "--port", str(port), "--key", KEY, stdout=asyncio.subprocess.PIPE
    )
    assert process.stdout is not None
    try:
        ready = await asyncio.wait_for(process.stdout.readline(), 60)
        endpoint = next(word for word in ready.decode().split() if word.startswith("http"))
        async with connected(endpoint, KEY) as account:
            yield account
    finally:
        process.terminate()
        await process.wait()


def trigger(name: str = "changed", body: str = "pass", retry: str = "", **options: object) -> str:
    """Return the source of a function that appends a `Call` to `<name>_calls`, then runs `body`."""
    properties = {
        "connection": "COSMOS",
        "database_name": "db",
        "container_name": "items",
        "create_lease_container_if_not_exists": True,
        **FAST,
        **options,
    }
    arguments = ", ".join(f"{key}={value!r}" for key, value in properties.items())
    decorator = f"@app.retry({retry})\n" if retry else ""
    return f"""
import asyncio
import json
import os
import time

{name}_calls = []

{decorator}@app.cosmos_db_trigger(arg_name="docs", {arguments})
async def {name}(docs: func.DocumentList, context: func.Context) -> None:
    ids = [doc["id"] for doc in docs]
    retry_count = context.retry_context.retry_count
    {name}_calls.append((ids, retry_count, [doc.to_dict() for doc in docs]))
    {body}
"""


def calls(name: str = "changed") -> list[Call]:
    """Return the recorded calls of a function."""
    return getattr(app_module(), f"{name}_calls")


def ids_of(calls: Iterable[Call]) -> list[str]:
    """Return all IDs in order."""
    return [item_id for ids, _, _ in calls for item_id in ids]
