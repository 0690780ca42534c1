"""Checkpoints, store, caches, chat history and the vector store, synchronous and asynchronous."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import AsyncIterator

from azure.cosmos import CosmosClient, PartitionKey
from azure.cosmos.aio import CosmosClient as AsyncCosmosClient
from langchain_azure_cosmosdb import (
    AsyncAzureCosmosDBNoSqlSemanticCache,
    AsyncAzureCosmosDBNoSqlVectorSearch,
    AsyncCosmosDBChatMessageHistory,
    AsyncCosmosDBStore,
    AzureCosmosDBNoSqlSemanticCache,
    AzureCosmosDBNoSqlVectorSearch,
    CosmosDBCache,
    CosmosDBCacheSync,
    CosmosDBChatMessageHistory,
    CosmosDBSaver,
    CosmosDBSaverSync,
    CosmosDBStore,
)
from langchain_core.documents import Document
from langchain_core.embeddings import Embeddings
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.outputs import Generation
from scenario import CONNECTION_STRING, DIMENSIONS, ENDPOINT, KEY, check_conformance, cosine, embed, search_policies

numbers = itertools.count()
ACCOUNT = {"endpoint": ENDPOINT, "key": KEY, "database_name": "langchain"}
HISTORY = {"cosmos_endpoint": ENDPOINT, "credential": KEY, "cosmos_database": "langchain", "cosmos_container": "chats"}

TEXTS = {
    "1": "The cat sleeps near the apple",
    "2": "Two dogs, a dog and a cat: each animal runs",
    "3": "The train is faster than the car",
    "4": "An apple and a pear are fruit",
}


class TopicEmbeddings(Embeddings):
    def embed_query(self, text: str) -> list[float]:
        return embed(text)

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        return [embed(text) for text in texts]


# Several physical partitions, which the SDK merges.
VECTORS = {
    "embedding": TopicEmbeddings(),
    "cosmos_database_properties": {},
    "cosmos_container_properties": {"partition_key": PartitionKey("/id"), "offer_throughput": 25_000},
    "vector_search_fields": {"text_field": "text", "embedding_field": "embedding"},
    "database_name": "langchain",
}
DOG = [{"search_field": "text", "search_text": "dog"}]


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


def check_index() -> None:
    index = {"dims": DIMENSIONS, "embed": TopicEmbeddings(), "fields": ["text"]}
    names = {"database_name": "langchain", "container_name": "store-index"}
    store = CosmosDBStore.from_conn_string(CONNECTION_STRING, **names, index=index)
    store.setup()
    for key, text in TEXTS.items():
        store.put(("users", "ada"), key, {"text": text, "even": int(key) % 2 == 0})
    store.put(("users", "bob"), "5", {"text": "a dog"})
    found = store.search(("users", "ada"), query="Which animal barks?", limit=2)
    assert [item.key for item in found] == ["2", "1"]
    assert all(abs(item.score - cosine(TEXTS[item.key], "Which animal barks?")) < 1e-6 for item in found)
    assert [item.key for item in store.search(("users", "ada"), query="fruit", filter={"even": False})] == ["1", "3"]
    assert [item.key for item in store.search(("users",), query="animal", limit=1)] == ["5"]


def check_vectors(client: CosmosClient) -> None:
    store = AzureCosmosDBNoSqlVectorSearch(
        cosmos_client=client,
        container_name="vectors",
        full_text_search_enabled=True,
        **search_policies("/embedding", "/text"),
        **VECTORS,
    )
    assert len(list(store.get_container().read_feed_ranges())) > 1
    metadata = [{"number": int(number)} for number in TEXTS]
    assert store.add_texts(list(TEXTS.values()), metadata, list(TEXTS)) == list(TEXTS)

    found = store.similarity_search_with_score("Which animal barks?", k=4)
    assert [document.metadata["id"] for document, _ in found[:2]] == ["2", "1"]
    assert all(abs(score - cosine(one.page_content, "Which animal barks?")) < 1e-6 for one, score in found)
    assert [score for _, score in found] == sorted((score for _, score in found), reverse=True)
    assert ids(store.similarity_search("animal", where="c.metadata.number != 2"))[0] == "1"
    assert sorted(ids(store.similarity_search("animal", where="c.metadata.number >= 3"))) == ["3", "4"]
    near = store.similarity_search("car", search_type="vector_score_threshold", threshold=0.9)
    assert ids(near) == ["3"]
    page = store.similarity_search("fruit", offset_limit="OFFSET 1 LIMIT 1", with_embedding=True)
    assert (ids(page), page[0].metadata["embedding"]) == (["1"], embed(TEXTS["1"]))
    assert ids(store.max_marginal_relevance_search("fruit", k=2, lambda_mult=1.0)) == ["4", "1"]

    where = 'FullTextContainsAll(c.text, "train", "car")'
    assert ids(store.similarity_search("", search_type="full_text_search", where=where)) == ["3"]
    ranked = store.similarity_search("", k=2, search_type="full_text_ranking", full_text_rank_filter=DOG)
    assert ranked[0].metadata["id"] == "2"
    hybrid = store.similarity_search_with_score("animal", k=2, search_type="hybrid", full_text_rank_filter=DOG)
    assert [document.metadata["id"] for document, _ in hybrid] == ["2", "1"]
    for weights, first in (([1.0, 0.1], "2"), ([0.1, 1.0], "4")):
        hybrid = store.similarity_search("fruit", k=1, search_type="hybrid", full_text_rank_filter=DOG, weights=weights)
        assert ids(hybrid) == [first]
    retriever = store.as_retriever(search_type="hybrid", k=1, full_text_rank_filter=DOG)
    assert ids(retriever.invoke("animal")) == ["2"]
    assert store.delete(["2"])
    assert ids(store.similarity_search("dog", k=1)) == ["1"]


def ids(documents: list[Document]) -> list[str]:
    return [document.metadata["id"] for document in documents]


def check_semantic_cache(client: CosmosClient) -> None:
    cache = AzureCosmosDBNoSqlSemanticCache(
        cosmos_client=client, container_name="semantic", score_threshold=0.9, **search_policies(), **VECTORS
    )
    cache.update("What does a dog eat?", "model", [Generation(text="Meat")])
    cache.update("What does a car need?", "model", [Generation(text="Fuel")])
    assert [one.text for one in cache.lookup("What food does the dog like?", "model")] == ["Meat"]
    assert [one.text for one in cache.lookup("vehicle", "model")] == ["Fuel"]
    assert cache.lookup("Is an apple fruit?", "model") is None
    cache.clear()
    assert cache.lookup("dog", "model") is None


async def check_asynchronous_search(client: AsyncCosmosClient) -> None:
    store = await AsyncAzureCosmosDBNoSqlVectorSearch.create(
        cosmos_client=client,
        container_name="vectors-async",
        full_text_search_enabled=True,
        **search_policies("/embedding", "/text"),
        **VECTORS,
    )
    await store.aadd_texts(list(TEXTS.values()), [{"number": int(number)} for number in TEXTS], list(TEXTS))
    assert ids(await store.asimilarity_search("animal", k=2)) == ["2", "1"]
    assert ids(await store.asimilarity_search("animal", k=1, where="c.metadata.number = 1")) == ["1"]
    ranked = await store.asimilarity_search("", k=1, search_type="full_text_ranking", full_text_rank_filter=DOG)
    assert ids(ranked) == ["2"]
    hybrid = await store.asimilarity_search("animal", k=2, search_type="hybrid", full_text_rank_filter=DOG)
    assert ids(hybrid) == ["2", "1"]
    cache = await AsyncAzureCosmosDBNoSqlSemanticCache.create(
        cosmos_client=client, container_name="semantic-async", score_threshold=0.9, **search_policies(), **VECTORS
    )
    await cache.aupdate("What does a dog eat?", "model", [Generation(text="Meat")])
    assert [one.text for one in await cache.alookup("dog", "model")] == ["Meat"]
    assert await cache.alookup("car", "model") is None


async def check_asynchronous() -> None:
    async with AsyncCosmosClient(ENDPOINT, KEY) as client:
        await check_asynchronous_search(client)
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
check_index()
with CosmosClient(ENDPOINT, KEY) as opened_client:
    check_vectors(opened_client)
    check_semantic_cache(opened_client)
asyncio.run(check_asynchronous())
