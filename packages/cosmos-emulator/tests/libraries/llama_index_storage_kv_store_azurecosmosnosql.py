"""Values, which the document and index stores of LlamaIndex also use."""

from __future__ import annotations

from azure.cosmos import PartitionKey
from llama_index.storage.kvstore.azurecosmosnosql import AzureCosmosNoSqlKVStore
from scenario import ENDPOINT, KEY

store = AzureCosmosNoSqlKVStore.from_account_and_key(
    ENDPOINT,
    KEY,
    cosmos_container_properties={"partition_key": PartitionKey("/id")},
    cosmos_database_properties={"offer_throughput": 400},
)
store.put("1", {"text": "é"})
assert list(store.get_all()) == ["1"]
assert store.get("1") == {"text": "é"}
assert store.delete("1")
assert store.get_all() == {}
