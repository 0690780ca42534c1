"""Agent state: keys that Cosmos DB does not allow, and an account that has the container already."""

from __future__ import annotations

import asyncio
from typing import Any

from microsoft_agents.hosting.core.storage import StoreItem
from microsoft_agents.storage.cosmos import CosmosDBStorage, CosmosDBStorageConfig
from scenario import ENDPOINT, KEY


class State(StoreItem):
    def __init__(self, text: str) -> None:
        self.text = text

    def store_item_to_json(self) -> dict[str, Any]:
        return {"text": self.text}

    @staticmethod
    def from_json_to_store_item(json_data: dict[str, Any]) -> State:
        return State(json_data["text"])


async def check(container: str, **options: Any) -> None:
    config = CosmosDBStorageConfig(ENDPOINT, KEY, "agents", container, **options)
    async with opened(CosmosDBStorage(config)) as storage:
        await storage.write({"a/b?c#d": State("é"), "long" * 100: State("long")})
        found = await storage.read(["a/b?c#d", "long" * 100, "absent"], target_cls=State)
        assert {key: item.text for key, item in found.items()} == {"a/b?c#d": "é", "long" * 100: "long"}
        await storage.write({"a/b?c#d": State("changed")})
    async with opened(CosmosDBStorage(config)) as storage:
        assert (await storage.read(["a/b?c#d"], target_cls=State))["a/b?c#d"].text == "changed"
        await storage.delete(["a/b?c#d", "absent"])
        assert await storage.read(["a/b?c#d"], target_cls=State) == {}


class opened:  # noqa: N801 - a context manager
    def __init__(self, storage: CosmosDBStorage) -> None:
        self.storage = storage

    async def __aenter__(self) -> CosmosDBStorage:
        return self.storage

    async def __aexit__(self, *_: object) -> None:
        await self.storage._close()


async def main() -> None:
    await check("state")
    await check("short-keys", compatibility_mode=True, container_throughput=1000)
    await check("suffixes", key_suffix="-test")


asyncio.run(main())
