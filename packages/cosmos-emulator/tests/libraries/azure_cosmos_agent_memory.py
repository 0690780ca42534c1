"""Facts, episodes and turns, and their hybrid searches, without a model."""

from __future__ import annotations

import asyncio
from typing import Any

from azure.cosmos.agent_memory import CosmosMemoryClient
from azure.cosmos.agent_memory.aio import AsyncCosmosMemoryClient
from scenario import DIMENSIONS, ENDPOINT, KEY, cosine, embed

FACTS = {
    "Ada has a dog, and the dog is an old animal": ["pets"],
    "Ada gives an apple to the cat": ["pets", "food"],
    "Ada takes the train": ["travel"],
}
NO_STEPS = dict.fromkeys(
    ("FACT_EXTRACTION_EVERY_N", "DEDUP_EVERY_N", "THREAD_SUMMARY_EVERY_N", "USER_SUMMARY_EVERY_N"), 0
)


class Embeddings:
    def generate(self, text: str) -> list[float]:
        return embed(text)


class AsyncEmbeddings:
    async def generate(self, text: str) -> list[float]:
        return embed(text)


OPTIONS = {
    "cosmos_endpoint": ENDPOINT,
    "cosmos_key": KEY,
    "cosmos_database": "memory",
    "cosmos_container": "memories",
    "embedding_dimensions": DIMENSIONS,
    "chat_client": object(),
    "use_default_credential": False,
    "enable_turn_embeddings": True,
    "cadence_thresholds": NO_STEPS,
}


def contents(found: list[dict[str, Any]]) -> list[str]:
    return [memory["content"] for memory in found]


def check(memory: CosmosMemoryClient) -> None:
    pets, food, travel = FACTS
    for content, tags in FACTS.items():
        memory.upsert_memory("ada", "user", content, "fact", tags=tags, salience=len(tags) / 2)
    memory.upsert_memory("bob", "user", "Bob has a dog", "fact")
    memory.upsert_memory("ada", "user", "The dog was ill", "episodic", thread_id="1")
    for thread, content in (("1", "Is an apple good?"), ("1", "How is your dog?"), ("2", "Where is the train?")):
        memory.upsert_memory("ada", "user", content, thread_id=thread)

    found = memory.search_cosmos("Which animal is a dog?", user_id="ada")
    assert contents(found) == [pets, food, travel]
    for one in found:
        assert abs(one["similarity_score"] - cosine(one["content"], "Which animal is a dog?")) < 1e-6
    assert contents(memory.search_cosmos("train", user_id="ada", top_k=1)) == [travel]
    assert contents(memory.search_cosmos("dog", user_id="ada", tags_any=["food", "travel"])) == [food, travel]
    assert contents(memory.search_cosmos("dog", user_id="ada", min_salience=1.0)) == [food]
    assert contents(memory.search_cosmos("dog", user_id="bob")) == ["Bob has a dog"]
    found = memory.search_cosmos(
        "is the", user_id="ada"
    )  # has only stop words, so that vectors alone determine the order
    scores = [one["similarity_score"] for one in found]
    assert (contents(found)[0], scores) == (travel, sorted(scores, reverse=True))
    blended = contents(memory.search_cosmos("dog", user_id="ada", include_episodes=True, include_turns=True))
    assert {pets, "The dog was ill", "How is your dog?"} <= set(blended)
    assert contents(memory.search_turns("dog", user_id="ada", top_k=1)) == ["How is your dog?"]
    found = memory.search_turns("dog", user_id="ada", thread_id="1")  # in one partition, which the emulator ranks
    assert contents(found) == ["How is your dog?", "Is an apple good?"]
    assert contents(memory.search_episodic_memories("ada", "dog")) == ["The dog was ill"]
    assert [one["content"] for one in memory.get_memories(user_id="bob", memory_types=["fact"])] == ["Bob has a dog"]


async def check_asynchronous() -> None:
    async with AsyncCosmosMemoryClient(**OPTIONS, embeddings_client=AsyncEmbeddings()) as memory:
        await memory.connect_cosmos()
        await memory.upsert_memory("eve", "user", "Eve has a pear", "fact")
        await memory.upsert_memory("eve", "user", "Eve has a car", "fact")
        assert contents(await memory.search_cosmos("fruit", user_id="eve")) == ["Eve has a pear", "Eve has a car"]
        assert contents(await memory.search_cosmos("car", user_id="eve", top_k=1)) == ["Eve has a car"]


with CosmosMemoryClient(**OPTIONS, embeddings_client=Embeddings()) as opened:
    check(opened)
asyncio.run(check_asynchronous())
