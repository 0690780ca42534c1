"""Vector embedding policies, full-text policies, and their indexes."""

from __future__ import annotations

from typing import Any

import pytest
from azure.cosmos import PartitionKey
from azure.cosmos.aio import DatabaseProxy
from tests.errors import fails_with
from tests.search.containers import VECTOR, create, policies

KEY = PartitionKey("/pk")


def vectors(**changes: Any) -> dict[str, Any]:
    return {"vector_embedding_policy": {"vectorEmbeddings": [{**VECTOR, **changes}]}}


def vector_index(index: Any, **changes: Any) -> dict[str, Any]:
    return {**vectors(**changes), "indexing_policy": {"includedPaths": [{"path": "/*"}], "vectorIndexes": [index]}}


def texts(path: Any = "/t", **policy: Any) -> dict[str, Any]:
    return {"full_text_policy": {"fullTextPaths": [{"path": path}], **policy}}


def text_index(path: Any) -> dict[str, Any]:
    return {**texts(), "indexing_policy": {"includedPaths": [{"path": "/*"}], "fullTextIndexes": [{"path": path}]}}


async def test_a_container_has_the_policies_that_it_was_created_with(database: DatabaseProxy) -> None:
    container = await create(database)

    found = await container.read()

    assert found["vectorEmbeddingPolicy"] == policies()["vector_embedding_policy"]
    assert found["fullTextPolicy"] == policies()["full_text_policy"]
    assert found["indexingPolicy"]["vectorIndexes"] == [{"path": "/v", "type": "flat"}]
    assert found["indexingPolicy"]["fullTextIndexes"] == [{"path": "/t"}]


@pytest.mark.parametrize(
    "options",
    [
        {"vector_embedding_policy": {"vectorEmbeddings": []}, "indexing_policy": {"vectorIndexes": []}},
        {"full_text_policy": {"defaultLanguage": "en-US", "fullTextPaths": []}},
        {"full_text_policy": {"defaultLanguage": "de-DE"}},
        vectors(path='/"a b"/v', dataType="uint8", distanceFunction="dotproduct", dimensions=4096),
        vectors(dataType="float16", distanceFunction="euclidean"),
        vector_index({"path": "/v", "type": "quantizedFlat", "quantizerType": "spherical", "quantizationByteSize": 2}),
        vector_index({"path": "/v", "type": "DiskANN", "indexingSearchListSize": 25, "vectorIndexShardKey": ["/city"]}),
        texts(defaultLanguage="pt-BR"),
        text_index("/t"),
    ],
)
async def test_valid_policies_are_accepted(database: DatabaseProxy, options: dict[str, Any]) -> None:
    await database.create_container("c", KEY, **options)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (vectors(path="v"), "invalid Path:v"),
        (vectors(path="/v/[]"), r"invalid Path:/v/\[\]"),
        (vectors(path="/v/*"), "invalid Path"),
        (vectors(dataType="float33"), "Vector Embedding Policy has an invalid DataType:float33"),
        (vectors(distanceFunction="manhattan"), "invalid DistanceFunction:manhattan"),
        (vectors(dimensions=0), "Dimensions:0"),
        (vectors(dimensions=4097), "Dimensions:4097 which is more than the maximum supported value: 4096"),
        (vectors(embeddingSource={}), "'embeddingSource' is not supported by this emulator"),
        ({"vector_embedding_policy": {"vectorEmbeddings": [VECTOR, VECTOR]}}, "more than once"),
        ({"vector_embedding_policy": {"vectorEmbeddings": {}}}, "must be an array"),
        ({"vector_embedding_policy": {"vectorEmbeddings": ["/v"]}}, "must be an object"),
        (vector_index({"path": "/w", "type": "flat"}), "path::/w not matching in Embedding's path"),
        (vector_index({"path": "/v", "type": "round"}), "Index Type::round is invalid"),
        (vector_index({"path": "/v", "type": "flat"}, dimensions=506), "supports at most 505 dimensions"),
        (vector_index({"path": "/v", "type": "diskANN", "quantizerType": "x"}), "Quantizer Type::x is invalid"),
        (
            vector_index({"path": "/v", "type": "diskANN", "quantizationByteSize": 3}),
            "QuantizationByteSize value :: 3 is out of range. The allowed range is between 1 and 2",
        ),
        (
            vector_index({"path": "/v", "type": "diskANN", "indexingSearchListSize": 501}),
            "IndexingSearchListSize value :: 501 is out of range. The allowed range is between 25 and 500",
        ),
        (
            vector_index({"path": "/v", "type": "diskANN", "vectorIndexShardKey": ["/a", "/b"]}),
            "number of shard paths defined in the Vector Indexing Policy: 2 exceeds the maximum: 1",
        ),
        (vector_index({"path": "/v", "type": "diskANN", "vectorIndexShardKey": ["a"]}), "invalid Shard Path: a"),
        (vector_index({"path": "/v", "type": "diskANN", "vectorIndexShardKey": "/a"}), "inputs is invalid"),
        (texts("t"), "Full Text Policy contains an invalid Path:t"),
        (texts("/t/*"), "invalid Path"),
        (texts(defaultLanguage="la-VA"), "unsupported language la-VA"),
        ({"full_text_policy": {"fullTextPaths": [{"path": "/t", "language": "xx"}]}}, "unsupported language xx"),
        ({"full_text_policy": {"fullTextPaths": [{"path": "/t"}, {"path": "/t"}]}}, "more than once"),
        (text_index("/other"), "path::/other is not in the Full Text Policy"),
        (text_index(None), "invalid Path"),
    ],
)
async def test_invalid_policies_are_rejected(database: DatabaseProxy, options: dict[str, Any], message: str) -> None:
    with fails_with(400, match=message):
        await database.create_container("c", KEY, **options)


async def test_vectors_and_their_indexes_cannot_be_changed_but_texts_can(database: DatabaseProxy) -> None:
    container = await create(database)
    own = policies()

    with fails_with(400, match="Paths in existing embedding policy cannot be modified in Collection Replace"):
        await database.replace_container(container, KEY, **{**own, **vectors(distanceFunction="euclidean")})
    indexing = {**own["indexing_policy"], "vectorIndexes": [{"path": "/v", "type": "quantizedFlat"}]}
    with fails_with(400, match="Paths in existing vector indexing policy cannot be modified in Collection Replace"):
        await database.replace_container(container, KEY, **{**own, "indexing_policy": indexing})
    await database.replace_container(container, KEY, **{**own, **texts(defaultLanguage="de-DE")})

    assert (await container.read())["fullTextPolicy"]["defaultLanguage"] == "de-DE"
