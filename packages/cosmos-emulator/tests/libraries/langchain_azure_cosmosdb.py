"""The parts without vectors: checkpoints, store, cache and chat history, synchronous and asynchronous."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import AsyncIterator

from langchain_azure_cosmosdb import (
    AsyncCosmosDBChatMessageHistory,
    AsyncCosmosDBStore,
    CosmosDBCache,
    CosmosDBCacheSync,
    CosmosDBChatMessageHistory,
    CosmosDBSaver,
    CosmosDBSaverSync,
    CosmosDBStore,
)
from langchain_core.messages import AIMessage, HumanMessage
from scenario import CONNECTION_STRING, ENDPOINT, KEY, check_conformance

numbers = itertools.count()
ACCOUNT = {"endpoint": ENDPOINT, "key": KEY, "database_name": "langchain"}
HISTORY = {"cosmos_endpoint": ENDPOINT, "credential": KEY, "cosmos_database": "langchain", "cosmos_container": "chats"}


async def saver() -> AsyncIterator[CosmosDBSaver]:
    async with CosmosDBSaver.from_conn_info(**ACCOUNT, container_name=f"checkpoints{next(numbers)}") as opened:
        yield opened


def check_saver() -> None:
    config = {"configurable": {"thread_id": "thread", "checkpoint_ns": ""}}
    with CosmosDBSaverSync("langchain", "checkpoints", endpoint=ENDPOINT, key=KEY) as opened:
        for number in (1, 2):
            checkpoint = {"v": 1, "id": f"{number}", "ts": "2026-01-02T03:04:05+00:00", "channel_values": {"n": number}}
            opened.put(config, {**checkpoint, "channel_versions": {}, "versions_seen": {}}, {"step": number}, {})
        opened.put_writes({"configurable": {**config["configurable"], "checkpoint_id": "2"}}, [("n", "é")], "task")
        found = opened.get_tuple(config)
        assert (found.checkpoint["channel_values"], found.pending_writes) == ({"n": 2}, [("task", "n", "é")])
        assert [one.metadata["step"] for one in opened.list(config)] == [2, 1]
        assert [one.metadata["step"] for one in opened.list(config, limit=1, before=found.config)] == [1]


def check_store() -> None:
    store = CosmosDBStore.from_conn_string(
        CONNECTION_STRING, database_name="langchain", container_name="store", ttl={"default_ttl": 60}
    )
    store.setup()
    for user, theme in (("ada", "dark"), ("bob", "light")):
        store.put(("users", user), "preferences", {"theme": theme, "size": 3})
    store.put(("teams",), "blue", {"theme": "dark"})
    assert store.get(("users", "ada"), "preferences").value == {"theme": "dark", "size": 3}
    assert [item.key for item in store.search(("users",), filter={"theme": "light"})] == ["preferences"]
    assert len(store.search(("users",), filter={"size": {"$gte": 3}})) == 2
    assert sorted(store.list_namespaces(prefix=("users",))) == [("users", "ada"), ("users", "bob")]
    store.delete(("users", "ada"), "preferences")
    assert store.get(("users", "ada"), "preferences") is None


def check_cache() -> None:
    with CosmosDBCacheSync(container_name="cache", **ACCOUNT) as cache:
        cache.set({(("a",), "1"): ("one", None), (("b",), "2"): ({"two": 2}, 60)})
        keys = [(("a",), "1"), (("b",), "2"), (("b",), "3")]
        assert cache.get(keys) == {keys[0]: "one", keys[1]: {"two": 2}}
        cache.clear([("a",)])
        assert cache.get(keys) == {keys[1]: {"two": 2}}


def check_history() -> None:
    session = {**HISTORY, "session_id": "1", "user_id": "ada"}
    with CosmosDBChatMessageHistory(**session) as first:
        first.add_user_message("Hello")
        with CosmosDBChatMessageHistory(**session) as second:
            first.add_user_message("?")
            second.add_ai_message("Hi")  # fails with 412, and is repeated with the newer messages
    with CosmosDBChatMessageHistory(**session) as history:
        assert [message.content for message in history.messages] == ["Hello", "?", "Hi"]
        assert [type(message) for message in history.messages] == [HumanMessage, HumanMessage, AIMessage]
        history.clear()
        assert history.messages == []


async def check_asynchronous() -> None:
    store = AsyncCosmosDBStore.from_conn_string(
        CONNECTION_STRING, database_name="langchain", container_name="store-async"
    )
    async with store as opened:
        await opened.setup()
        await opened.aput(("users", "ada"), "preferences", {"theme": "dark"})
        assert (await opened.aget(("users", "ada"), "preferences")).value == {"theme": "dark"}
        assert [item.key for item in await opened.asearch(("users",), filter={"theme": "dark"})] == ["preferences"]
        assert await opened.alist_namespaces(prefix=("users",)) == [("users", "ada")]
    async with CosmosDBCache.from_conn_info(**ACCOUNT, container_name="cache-async") as cache:
        await cache.aset({(("a",), "1"): ("one", None)})
        assert await cache.aget([(("a",), "1")]) == {(("a",), "1"): "one"}
        await cache.aclear()
        assert await cache.aget([(("a",), "1")]) == {}
    async with AsyncCosmosDBChatMessageHistory(**HISTORY, session_id="2", user_id="ada") as history:
        await history.aadd_messages([HumanMessage("Hello"), AIMessage("Hi")])
    async with AsyncCosmosDBChatMessageHistory(**HISTORY, session_id="2", user_id="ada") as history:
        assert [message.content for message in history.messages] == ["Hello", "Hi"]


asyncio.run(check_conformance(saver, least=53))
check_saver()
check_store()
check_cache()
check_history()
asyncio.run(check_asynchronous())
