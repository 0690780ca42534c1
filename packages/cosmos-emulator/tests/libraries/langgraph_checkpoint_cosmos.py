"""The synchronous and the asynchronous checkpointer."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import AsyncIterator

from azure.cosmos import CosmosClient, PartitionKey
from langgraph_checkpoint_cosmos import CosmosDBSaver
from langgraph_checkpoint_cosmos.aio import AsyncCosmosDBSaver
from scenario import ENDPOINT, KEY, check_conformance

numbers = itertools.count()
database = CosmosClient(ENDPOINT, KEY).create_database("langgraph")


async def saver() -> AsyncIterator[AsyncCosmosDBSaver]:
    name = f"checkpoints{next(numbers)}"
    database.create_container(name, PartitionKey("/partition_key"))
    async with AsyncCosmosDBSaver.from_conn_info(
        endpoint=ENDPOINT, credential=KEY, database_name="langgraph", container_name=name
    ) as opened:
        yield opened


asyncio.run(check_conformance(saver, least=58))

container = database.create_container("synchronous", PartitionKey("/partition_key"))
synchronous = CosmosDBSaver(container)
config = {"configurable": {"thread_id": "thread", "checkpoint_ns": ""}}
checkpoint = {
    "v": 1,
    "ts": "2026-01-02T03:04:05+00:00",
    "id": "1ef4f797-8335-6428-8001-8a1503f9b875",
    "channel_values": {"text": "é"},
    "channel_versions": {"text": 3},
    "versions_seen": {"node": {"text": 2}},
}
stored = synchronous.put(config, checkpoint, {"source": "loop", "step": 1}, {})
synchronous.put_writes(stored, [("text", "written")], "task")
found = synchronous.get_tuple(config)
assert found.checkpoint["channel_values"] == {"text": "é"}
assert found.pending_writes == [("task", "text", "written")]
assert [one.metadata["step"] for one in synchronous.list(config)] == [1]
synchronous.delete_thread("thread")
assert synchronous.get_tuple(config) is None
