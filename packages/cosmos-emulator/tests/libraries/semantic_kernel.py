"""Collections of records, with vectors and without them.

Hybrid search fails with every account: its query sorts by RRF without RANK, and selects RRF, which Cosmos DB refuses.
"""

import asyncio
from dataclasses import dataclass
from typing import Annotated, Any

from azure.cosmos.exceptions import CosmosHttpResponseError
from scenario import DIMENSIONS, ENDPOINT, KEY, cosine, embed
from semantic_kernel.connectors.azure_cosmos_db import CosmosNoSqlCompositeKey, CosmosNoSqlStore
from semantic_kernel.data.vector import VectorStoreField, vectorstoremodel

TEXTS = {"pets": "a dog and a cat", "snack": "an apple for the dog", "travel": "a train"}


@vectorstoremodel(collection_name="hotels")
@dataclass
class Hotel:
    name: Annotated[str, VectorStoreField("key")]
    city: Annotated[str, VectorStoreField("data", is_indexed=True)]
    rating: Annotated[int, VectorStoreField("data")]


@vectorstoremodel(collection_name="notes")
@dataclass
class Note:
    id: Annotated[str, VectorStoreField("key")]
    text: Annotated[str, VectorStoreField("data", is_full_text_indexed=True)]
    length: Annotated[int, VectorStoreField("data", is_indexed=True)]
    vector: Annotated[
        list[float] | None,
        VectorStoreField(
            "vector", dimensions=DIMENSIONS, type="float", distance_function="cosine_similarity", index_kind="flat"
        ),
    ] = None


async def main() -> None:
    async with CosmosNoSqlStore(url=ENDPOINT, key=KEY, database_name="kernel", create_database=True) as store:
        await check_records(store)
        await check_vectors(store)


async def check_records(store: CosmosNoSqlStore) -> None:
    hotels = store.get_collection(Hotel)
    assert not await hotels.collection_exists()
    await hotels.ensure_collection_exists()  # its policies have an empty list of vectors
    assert await store.list_collection_names() == ["hotels"]
    assert await hotels.upsert([Hotel("a", "Paris", 3), Hotel("b", "Rome", 4)]) == ["a", "b"]
    await hotels.upsert(Hotel("b", "Rome", 5))
    assert await hotels.get("b") == Hotel("b", "Rome", 5)
    assert len(await hotels.get(["a", "b", "absent"])) == 2
    await hotels.delete(CosmosNoSqlCompositeKey(key="a", partition_key="a"))
    assert await hotels.get("a") is None
    await hotels.ensure_collection_deleted()
    assert await store.list_collection_names() == []


async def check_vectors(store: CosmosNoSqlStore) -> None:
    notes = store.get_collection(Note)
    await notes.ensure_collection_exists()
    assert await notes.upsert([Note(key, text, len(text), embed(text)) for key, text in TEXTS.items()]) == list(TEXTS)
    assert (await notes.get("pets", include_vectors=True)).vector == embed(TEXTS["pets"])

    found = await search(notes, "Which animal?")
    assert [note.id for note, _ in found] == ["pets", "snack", "travel"]
    assert all(abs(score - cosine(note.text, "Which animal?")) < 1e-6 for note, score in found)
    assert all(note.vector is None for note, _ in found)
    assert [note.id for note, _ in await search(notes, "Which animal?", top=1)] == ["pets"]
    assert [note.id for note, _ in await search(notes, "animal", filter=lambda note: note.length < 10)] == ["travel"]
    found = await search(notes, "animal", filter=lambda note: note.text == "a train", include_vectors=True)
    assert [note.vector for note, _ in found] == [embed("a train")]

    assert await refuses_hybrid_search(notes)

    await notes.upsert(Note("travel", "the dog", 7, embed("the dog")))
    assert [note.id for note, _ in await search(notes, "animal", top=1)] == ["travel"]
    await notes.ensure_collection_deleted()


async def refuses_hybrid_search(notes: Any) -> bool:
    options = {"vector": embed("dog"), "vector_property_name": "vector", "additional_property_name": "text"}
    try:
        found = await notes.hybrid_search("dog", **options)
        _ = [result async for result in found.results]
    except CosmosHttpResponseError as error:
        return "The FullTextScore function is only allowed in the ORDER BY RANK clause" in error.message
    return False


async def search(notes: Any, text: str, **options: Any) -> list[tuple[Note, float]]:
    found = await notes.search(vector=embed(text), vector_property_name="vector", **options)
    return [(result.record, result.score) async for result in found.results]


asyncio.run(main())
