"""The store, without vectors and with them."""

from __future__ import annotations

from langgraph_store_cosmosdb import CosmosDBStore
from scenario import DIMENSIONS, ENDPOINT, KEY, cosine, embed

ACCOUNT = {"endpoint": ENDPOINT, "key": KEY, "database_name": "langgraph"}

store = CosmosDBStore(**ACCOUNT, container_name="store")
store.put(("users", "1", "memories"), "food/é", {"text": "likes sushi", "kind": "preference"})
store.put(("users", "2", "memories"), "food/é", {"text": "likes soup", "kind": "fact"})
store.put(("teams",), "blue", {"size": 3})
assert store.get(("users", "1", "memories"), "food/é").value["text"] == "likes sushi"
assert [item.namespace for item in store.search(("users",), filter={"kind": "fact"})] == [("users", "2", "memories")]
assert [item.key for item in store.search(("teams",), filter={"size": {"$gt": 2}})] == ["blue"]
assert sorted(store.list_namespaces(max_depth=2)) == [("teams",), ("users", "1"), ("users", "2")]
store.put(("teams",), "blue", {"size": 4})
assert store.get(("teams",), "blue").value == {"size": 4}
store.delete(("teams",), "blue")
assert store.get(("teams",), "blue") is None
assert store.search(("teams",)) == []

TEXTS = {"pets": "a dog and a cat", "snack": "an apple for the dog", "travel": "a train"}
index = {"dims": DIMENSIONS, "embed": lambda texts: [embed(text) for text in texts], "fields": ["text"]}
for kind in ("diskANN", "quantizedFlat", "flat"):
    store = CosmosDBStore(**ACCOUNT, container_name=f"index-{kind}", index=index, vector_index_type=kind)
    for key, text in TEXTS.items():
        store.put(("users", "1"), key, {"text": text, "length": len(text)})
    store.put(("users", "2"), "pets", {"text": "a dog", "length": 5})
    store.put(("users", "1"), "unindexed", {"text": "animal"}, index=False)

    found = store.search(("users", "1"), query="Which animal?")
    assert [item.key for item in found] == ["pets", "snack", "travel"]
    assert all(abs(item.score - cosine(TEXTS[item.key], "Which animal?")) < 1e-6 for item in found)
    assert [item.key for item in store.search(("users", "1"), query="animal", limit=1, offset=1)] == ["snack"]
    assert [item.namespace[1] for item in store.search(("users",), query="dog", limit=2)] == ["2", "1"]
    filtered = store.search(("users", "1"), query="animal", filter={"length": 7})
    assert [item.key for item in filtered] == ["travel"]
    assert [item.key for item in store.search(("users", "1"), query="dog", filter={"length": {"$gt": 15}})] == ["snack"]
    store.put(("users", "1"), "travel", {"text": "the dog", "length": 7})
    assert [item.key for item in store.search(("users", "1"), query="animal", limit=1)] == ["travel"]
