"""The store without vectors."""

from __future__ import annotations

from langgraph_store_cosmosdb import CosmosDBStore
from scenario import ENDPOINT, KEY

store = CosmosDBStore(endpoint=ENDPOINT, key=KEY, database_name="langgraph", container_name="store")
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
