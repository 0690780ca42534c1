"""Collections of records without vectors."""

import asyncio
from dataclasses import dataclass
from typing import Annotated

from scenario import ENDPOINT, KEY
from semantic_kernel.connectors.azure_cosmos_db import CosmosNoSqlCompositeKey, CosmosNoSqlStore
from semantic_kernel.data.vector import VectorStoreField, vectorstoremodel


@vectorstoremodel(collection_name="hotels")
@dataclass
class Hotel:
    name: Annotated[str, VectorStoreField("key")]
    city: Annotated[str, VectorStoreField("data", is_indexed=True)]
    rating: Annotated[int, VectorStoreField("data")]


async def main() -> None:
    async with CosmosNoSqlStore(url=ENDPOINT, key=KEY, database_name="kernel", create_database=True) as store:
        hotels = store.get_collection(Hotel)
        assert not await hotels.collection_exists()
        # By default, the policies have an empty list of vectors. The emulator accepts no policy of vectors at all.
        await hotels.ensure_collection_exists(vector_embedding_policy=None)
        assert await store.list_collection_names() == ["hotels"]
        assert await hotels.upsert([Hotel("a", "Paris", 3), Hotel("b", "Rome", 4)]) == ["a", "b"]
        await hotels.upsert(Hotel("b", "Rome", 5))
        assert await hotels.get("b") == Hotel("b", "Rome", 5)
        assert len(await hotels.get(["a", "b", "absent"])) == 2
        await hotels.delete(CosmosNoSqlCompositeKey(key="a", partition_key="a"))
        assert await hotels.get("a") is None
        await hotels.ensure_collection_deleted()
        assert await store.list_collection_names() == []


asyncio.run(main())
