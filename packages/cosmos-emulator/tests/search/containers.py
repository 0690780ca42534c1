"""Containers with vectors and texts."""

from __future__ import annotations

from typing import Any

from azure.cosmos import PartitionKey
from azure.cosmos.aio import ContainerProxy, DatabaseProxy

VECTOR = {"path": "/v", "dataType": "float32", "dimensions": 2, "distanceFunction": "cosine"}
TEXTS = {
    "tree": "Trees grow in the forest. A tree is tall.",
    "red": "A red bicycle stands in the forest",
    "bicycle": "The bicycle is blue, the car is red",
    "none": "Nothing to see",
}


def policies(*, distance: str = "cosine", language: str = "en-US") -> dict[str, Any]:
    """Arguments of `create_container`: vectors at /v and texts at /t."""
    return {
        "vector_embedding_policy": {"vectorEmbeddings": [{**VECTOR, "distanceFunction": distance}]},
        "full_text_policy": {"defaultLanguage": language, "fullTextPaths": [{"path": "/t"}]},
        "indexing_policy": {
            "includedPaths": [{"path": "/*"}],
            "excludedPaths": [{"path": "/v/*"}],
            "vectorIndexes": [{"path": "/v", "type": "flat"}],
            "fullTextIndexes": [{"path": "/t"}],
        },
    }


async def create(database: DatabaseProxy, **options: Any) -> ContainerProxy:
    return await database.create_container("search", PartitionKey("/pk"), **policies(**options))


async def ids(container: ContainerProxy, query: str, parameters: Any = None, **options: Any) -> list[str]:
    """Return the ids of a query's rows, which are ids or items."""
    rows = container.query_items(query, parameters=parameters, **options)
    return [row if isinstance(row, str) else row["id"] async for row in rows]
