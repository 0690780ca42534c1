"""The synchronous and the asynchronous store, without vectors."""

from __future__ import annotations

import asyncio

from azure.cosmos import CosmosClient
from azure.cosmos import aio as asynchronous
from langraph_cosmos.store import CosmosStore, aio
from scenario import ENDPOINT, KEY


def check_synchronous() -> None:
    store = CosmosStore(client=CosmosClient(ENDPOINT, KEY), database_name="langgraph", container_name="store")
    store.setup()
    for user, theme in (("ada", "dark"), ("bob", "light")):
        store.put(("users", user), "preferences", {"theme": theme})
    assert store.get(("users", "ada"), "preferences").value == {"theme": "dark"}
    assert len(store.search(("users",), limit=10)) == 2
    assert [item.namespace for item in store.search(("users",), filter={"theme": "light"})] == [("users", "bob")]
    assert sorted(store.list_namespaces(prefix=("users",))) == [("users", "ada"), ("users", "bob")]
    store.delete(("users", "ada"), "preferences")
    assert store.get(("users", "ada"), "preferences") is None


async def check_asynchronous() -> None:
    async with asynchronous.CosmosClient(ENDPOINT, KEY) as client:
        store = aio.CosmosStore(client=client, database_name="langgraph", container_name="store-async")
        await store.setup()
        await store.aput(("users", "ada"), "preferences", {"theme": "dark"})
        assert (await store.aget(("users", "ada"), "preferences")).value == {"theme": "dark"}
        assert [item.key for item in await store.asearch(("users",))] == ["preferences"]


check_synchronous()
asyncio.run(check_asynchronous())
