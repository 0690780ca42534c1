"""An account with a watched container, and apps with a Cosmos DB trigger on it."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from azure.cosmos import PartitionKey
from azure.cosmos.aio import ContainerProxy, CosmosClient, DatabaseProxy
from azure.cosmos.exceptions import CosmosResourceNotFoundError
from cosmos_emulator import CosmosEmulator, EmulatorSettings
from tests.running import app_module

Call = tuple[list[str], int, list[dict[str, Any]]]
"""One call of a function: the ids, the retry count, the items."""

FAST = {
    "feed_poll_delay": 50,
    "lease_acquire_interval": 150,
    "lease_renew_interval": 300,
    "lease_expiration_interval": 1500,
}


@dataclass
class Clock:
    """The account's clock, ahead of the real one by `offset_s` seconds: what gives items an older `_ts`."""

    offset_s: float = 0

    def __call__(self) -> float:
        return time.time() + self.offset_s


@dataclass(frozen=True)
class Watched:
    """A database `db` with the container `items`, partitioned by `/pk`."""

    clock: Clock
    endpoint: str
    key: str
    database: DatabaseProxy
    items: ContainerProxy

    @property
    def environment(self) -> dict[str, str]:
        """The app setting that the apps' connection is called after."""
        return {"COSMOS": f"AccountEndpoint={self.endpoint};AccountKey={self.key};"}

    async def write(self, *ids: str, pk: str | None = None, **properties: Any) -> None:
        """Upsert items; each is a logical partition of its own unless `pk` says otherwise."""
        for item_id in ids:
            await self.items.upsert_item({"id": item_id, "pk": pk or item_id, **properties})

    async def lease_items(self, container: str = "leases") -> list[dict[str, Any]]:
        """The lease documents, without marker and lock, in the order of their tokens; [] without container."""
        proxy = self.database.get_container_client(container)
        try:
            found = [item async for item in proxy.read_all_items()]
        except CosmosResourceNotFoundError:
            return []
        return sorted((item for item in found if "LeaseToken" in item), key=lambda item: item["id"])

    async def checkpoints(self) -> list[str | None]:
        """The continuation of each lease."""
        return [item["ContinuationToken"] for item in await self.lease_items()]


@asynccontextmanager
async def watched(partitions: int = 1, *, data_dir: Path | None = None, port: int = 0) -> AsyncIterator[Watched]:
    """An account whose `items` container has `partitions` physical partitions; fresh unless `data_dir` holds one."""
    clock = Clock()
    settings = EmulatorSettings(partitions=partitions, data_dir=data_dir, port=port, clock=clock)
    async with CosmosEmulator(settings) as emulator, CosmosClient(emulator.endpoint, emulator.key) as client:
        database = await client.create_database_if_not_exists("db")
        items = await database.create_container_if_not_exists("items", PartitionKey("/pk"))
        yield Watched(clock, emulator.endpoint, emulator.key, database, items)


def trigger(name: str = "changed", body: str = "pass", retry: str = "", **options: object) -> str:
    """Source of a function that keeps `(ids, retry_count, items)` in the list `<name>_calls`, then does `body`."""
    given = {
        "connection": "COSMOS",
        "database_name": "db",
        "container_name": "items",
        "create_lease_container_if_not_exists": True,
        **FAST,
        **options,
    }
    arguments = ", ".join(f"{key}={value!r}" for key, value in given.items())
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
    """What the function has kept so far."""
    return getattr(app_module(), f"{name}_calls")  # type: ignore[no-any-return]


def ids_of(calls: Iterable[Call]) -> list[str]:
    """All ids of all calls, in order."""
    return [item_id for ids, _, _ in calls for item_id in ids]
