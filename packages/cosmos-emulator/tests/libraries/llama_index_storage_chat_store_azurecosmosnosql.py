"""Chat history."""

from __future__ import annotations

from azure.cosmos import PartitionKey
from llama_index.core.llms import ChatMessage
from llama_index.storage.chat_store.azurecosmosnosql import AzureCosmosNoSqlChatStore
from scenario import ENDPOINT, KEY

store = AzureCosmosNoSqlChatStore.from_account_and_key(
    ENDPOINT,
    KEY,
    cosmos_container_properties={"partition_key": PartitionKey("/id")},
    cosmos_database_properties={"offer_throughput": 400},
)
store.set_messages("1", [ChatMessage(role="user", content="Hello")])
assert store.get_keys() == ["1"]
assert [message.content for message in store.get_messages("1")] == ["Hello"]
assert store.delete_last_message("1").content == "Hello"
assert store.get_messages("1") == []
