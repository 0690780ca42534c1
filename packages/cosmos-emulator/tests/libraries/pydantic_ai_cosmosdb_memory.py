"""Memory files: conflicts, and repeated operations.

Search, which ranks the files in the client, fails with every account: newer harnesses have made it asynchronous, and
the library does not await it. With pydantic-ai-harness 0.7.0, it works.
"""

from __future__ import annotations

import asyncio

from pydantic_ai_cosmosdb_memory import CosmosDBMemoryStore
from pydantic_ai_harness.memory._store import MemoryConflictError, MemoryOperation
from scenario import ENDPOINT, KEY


async def main() -> None:
    store = CosmosDBMemoryStore(endpoint=ENDPOINT, key=KEY, database_name="pydantic", container_name="memory")
    first = await store.write("ada/notes.md", "likes é", expected_version=None)
    await store.write("ada/other.md", "likes tea", expected_version=None)
    await store.write("bob/notes.md", "likes é", expected_version=None)
    assert (await store.read("ada/notes.md", max_chars=100)).content == "likes é"
    assert sorted(await store.list_paths("ada/", limit=10)) == ["ada/notes.md", "ada/other.md"]

    operation = MemoryOperation(id="operation/1", fingerprint="f")
    second = await store.write("ada/notes.md", "changed", expected_version=first.version, operation=operation)
    again = await store.write("ada/notes.md", "changed", expected_version=first.version, operation=operation)
    assert (again.replayed, again.version) == (True, second.version)
    for content, version in (("late", first.version), ("new", None)):
        try:
            await store.write("ada/notes.md", content, expected_version=version)
        except MemoryConflictError:
            continue
        raise AssertionError("A write of an old version must fail")
    assert (await store.read("ada/notes.md", max_chars=100)).content == "changed"

    await store.delete("ada/notes.md", expected_version=second.version)
    assert await store.read("ada/notes.md", max_chars=100) is None


asyncio.run(main())
