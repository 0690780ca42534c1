"""The document store and its retrievers."""

from __future__ import annotations

from azure.cosmos import PartitionKey
from haystack import Document
from haystack.document_stores.errors import DuplicateDocumentError
from haystack.document_stores.types import DuplicatePolicy
from haystack.utils import Secret
from haystack_azure_cosmosdb import (
    AzureCosmosDBNoSqlDocumentStore,
    AzureCosmosDBNoSqlEmbeddingRetriever,
    AzureCosmosDBNoSqlFullTextRetriever,
    AzureCosmosDBNoSqlHybridRetriever,
)
from scenario import CONNECTION_STRING, cosine, embed, search_policies

TEXTS = {
    "pets": "The cat sees the dog, and the dog runs",
    "snack": "The cat has an apple",
    "travel": "The train is faster than a car",
}
store = AzureCosmosDBNoSqlDocumentStore.from_connection_string(
    Secret.from_token(CONNECTION_STRING),
    database_name="haystack",
    container_name="documents",
    cosmos_container_properties={"partition_key": PartitionKey("/id")},
    full_text_search_enabled=True,
    **search_policies(),
)


def ids(documents: list[Document]) -> list[str]:
    return [document.id for document in documents]


documents = [
    Document(id=key, content=text, embedding=embed(text), meta={"words": len(text.split())})
    for key, text in TEXTS.items()
]
assert store.write_documents(documents) == 3
try:
    store.write_documents(documents[:1])
except DuplicateDocumentError:
    pass
else:
    raise AssertionError("A document must not be written twice")
assert store.write_documents(documents[:1], DuplicatePolicy.SKIP) == 0
assert store.write_documents(documents[:1], DuplicatePolicy.OVERWRITE) == 1
assert store.count_documents() == 3
short = {"field": "meta.words", "operator": "<=", "value": 7}
assert sorted(ids(store.filter_documents(short))) == ["snack", "travel"]

vectors = AzureCosmosDBNoSqlEmbeddingRetriever(document_store=store)
found = vectors.run(query_embedding=embed("Which animal?"))["documents"]
assert ids(found) == ["pets", "snack", "travel"]
assert all(abs(one.score - cosine(one.content, "Which animal?")) < 1e-6 for one in found)
assert ids(vectors.run(query_embedding=embed("animal"), top_k=1)["documents"]) == ["pets"]
assert ids(vectors.run(query_embedding=embed("animal"), filters=short)["documents"]) == ["snack", "travel"]

texts = AzureCosmosDBNoSqlFullTextRetriever(document_store=store)
assert ids(texts.run(query_text="dogs", top_k=1)["documents"]) == ["pets"]
assert ids(texts.run(query_text="train apple car", top_k=2)["documents"]) == ["travel", "snack"]
assert ids(texts.run(query_text="dog apple", filters=short, top_k=1)["documents"]) == ["snack"]

both = AzureCosmosDBNoSqlHybridRetriever(document_store=store)
found = both.run(query_embedding=embed("animal"), query_text="dog cat")["documents"]
assert ids(found) == ["pets", "snack", "travel"]
assert all(abs(one.score - cosine(one.content, "animal")) < 1e-6 for one in found)
for weights, first in (([1.0, 0.1], "travel"), ([0.1, 1.0], "pets")):
    found = both.run(query_embedding=embed("animal"), query_text="train", weights=weights, top_k=1)["documents"]
    assert ids(found) == [first]
assert ids(both.run(query_embedding=embed("dog"), query_text="dog", filters=short, top_k=1)["documents"]) == ["snack"]

store.delete_documents(["pets"])
assert ids(vectors.run(query_embedding=embed("Which animal?"))["documents"]) == ["snack", "travel"]
