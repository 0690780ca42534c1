"""Records of a memory: scopes, and vector search."""

from __future__ import annotations

import asyncio

from crewai.memory.types import MemoryRecord
from crewai_memory_cosmosdb import CosmosDBMemoryBackend
from scenario import DIMENSIONS, ENDPOINT, KEY, cosine, embed

TEXTS = {"pets": "a dog and a cat", "snack": "an apple for the dog", "travel": "a train"}
backend = CosmosDBMemoryBackend(
    endpoint=ENDPOINT, key=KEY, database_name="crew", container_name="memory", dimensions=DIMENSIONS
)


def record(key: str, text: str, scope: str = "/ada/notes") -> MemoryRecord:
    metadata = {"length": len(text)}
    return MemoryRecord(
        id=key, content=text, scope=scope, categories=[text.split()[-1]], metadata=metadata, embedding=embed(text)
    )


def search(text: str, **options: object) -> list[str]:
    found = backend.search(embed(text), **options)
    assert all(abs(score - cosine(one.content, text)) < 1e-6 for one, score in found)
    return [one.id for one, _ in found]


backend.save([record(key, text) for key, text in TEXTS.items()])
backend.save([record("other", "a dog", scope="/adam"), MemoryRecord(id="plain", content="animal", scope="/ada")])
assert backend.get_record("pets").content == TEXTS["pets"]
assert (backend.count("/ada"), backend.list_scopes()) == (4, ["/ada", "/adam"])

assert search("Which animal?", scope_prefix="/ada") == ["pets", "snack", "travel"]
assert search("Which animal?", limit=2) == ["other", "pets"]
assert search("Which animal?", scope_prefix="/ada", categories=["dog"]) == ["snack"]
assert search("Which animal?", metadata_filter={"length": 7}) == ["travel"]
assert search("Which animal?", min_score=0.9) == ["other", "pets"]
found = asyncio.run(backend.asearch(embed("vehicle"), limit=1))
assert [one.id for one, _ in found] == ["travel"]

backend.update(record("travel", "the dog", scope="/eve"))
assert search("animal", scope_prefix="/eve") == ["travel"]
assert backend.delete(record_ids=["travel", "absent"]) == 1
assert search("animal", scope_prefix="/eve") == []
backend.reset()
assert backend.count() == 0
