"""The vector store, alone and in an index."""

from __future__ import annotations

from azure.cosmos import PartitionKey
from llama_index.core import StorageContext, VectorStoreIndex
from llama_index.core.embeddings import BaseEmbedding
from llama_index.core.schema import NodeRelationship, RelatedNodeInfo, TextNode
from llama_index.core.vector_stores.types import VectorStoreQuery
from llama_index.vector_stores.azurecosmosnosql import AzureCosmosDBNoSqlVectorSearch
from scenario import CONNECTION_STRING, ENDPOINT, KEY, cosine, embed, search_policies

TEXTS = {"pets": "a dog and a cat", "snack": "an apple for the dog", "travel": "a train"}
OPTIONS = {
    **search_policies(),
    "cosmos_container_properties": {"partition_key": PartitionKey("/id"), "offer_throughput": 25_000},
    "cosmos_database_properties": {},
    "database_name": "llama",
}


class TopicEmbedding(BaseEmbedding):
    def _get_text_embedding(self, text: str) -> list[float]:
        return embed(text)

    def _get_query_embedding(self, query: str) -> list[float]:
        return embed(query)

    async def _aget_query_embedding(self, query: str) -> list[float]:
        return embed(query)


def node(key: str, text: str) -> TextNode:
    source = {NodeRelationship.SOURCE: RelatedNodeInfo(node_id=f"document-{key}")}
    return TextNode(id_=key, text=text, embedding=embed(text), metadata={"length": len(text)}, relationships=source)


def query(text: str, limit: int, **options: str) -> list[str]:
    wanted = VectorStoreQuery(query_embedding=embed(text), similarity_top_k=limit)
    found = store.query(wanted, pre_filter=options)
    assert found.similarities == sorted(found.similarities, reverse=True)
    for one, score in zip(found.nodes, found.similarities, strict=True):
        assert abs(score - cosine(one.text, text)) < 1e-6
    assert [one.node_id for one in found.nodes] == found.ids
    return found.ids


store = AzureCosmosDBNoSqlVectorSearch.from_host_and_key(ENDPOINT, KEY, **OPTIONS, container_name="nodes")
assert store.add([node(key, text) for key, text in TEXTS.items()]) == list(TEXTS)
assert query("Which animal?", 3) == ["pets", "snack", "travel"]
assert query("Which animal?", 1) == ["pets"]
assert query("Which animal?", 3, where_clause="WHERE c.metadata.length > 15") == ["snack"]
assert query("Which animal?", 3, limit_offset_clause="OFFSET 1 LIMIT 1") == ["snack"]
store.delete("document-pets")
assert query("Which animal?", 3) == ["snack", "travel"]

store = AzureCosmosDBNoSqlVectorSearch.from_connection_string(CONNECTION_STRING, **OPTIONS, container_name="index")
context = StorageContext.from_defaults(vector_store=store)
index = VectorStoreIndex(
    [TextNode(id_=key, text=text) for key, text in TEXTS.items()],
    storage_context=context,
    embed_model=TopicEmbedding(),
)
retrieved = index.as_retriever(similarity_top_k=2).retrieve("Where is the vehicle?")
assert retrieved[0].node.text == "a train"
assert retrieved[0].score > retrieved[1].score
