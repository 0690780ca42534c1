"""Checkpoints of workflows, and chat history, also with more messages than a batch can have."""

from __future__ import annotations

import asyncio
import datetime

from agent_framework import Message, WorkflowCheckpoint
from agent_framework.exceptions import WorkflowCheckpointException
from agent_framework_azure_cosmos import CosmosCheckpointStorage, CosmosHistoryProvider
from scenario import ENDPOINT, KEY

ACCOUNT = {"endpoint": ENDPOINT, "credential": KEY, "database_name": "agents"}


async def check_checkpoints() -> None:
    async with CosmosCheckpointStorage(**ACCOUNT, container_name="checkpoints") as storage:
        when = datetime.datetime(2026, 1, 2, tzinfo=datetime.UTC)
        ids = [
            await storage.save(
                WorkflowCheckpoint(name, "hash", state={"when": when, "n": n}, timestamp=f"2026-01-02T00:00:0{n}Z")
            )
            for n, name in enumerate(("first", "first", "second"))
        ]
        assert (await storage.load(ids[1])).state == {"when": when, "n": 1}
        assert [one.checkpoint_id for one in await storage.list_checkpoints(workflow_name="first")] == ids[:2]
        assert await storage.list_checkpoint_ids(workflow_name="second") == ids[2:]
        assert (await storage.get_latest(workflow_name="first")).checkpoint_id == ids[1]
        assert await storage.get_latest(workflow_name="third") is None
        assert [await storage.delete(ids[1]), await storage.delete(ids[1])] == [True, False]
        assert (await storage.get_latest(workflow_name="first")).checkpoint_id == ids[0]
        try:
            await storage.load(ids[1])
        except WorkflowCheckpointException:
            return
        raise AssertionError("A deleted checkpoint must not be found")


async def check_history() -> None:
    async with CosmosHistoryProvider(**ACCOUNT, container_name="history") as history:
        texts = [f"message {number}" for number in range(250)]
        await history.save_messages("1", [Message("user", [text]) for text in texts])
        await history.save_messages("2", [Message("assistant", ["é"])])
        assert [message.text for message in await history.get_messages("1")] == texts
        assert [(one.role, one.text) for one in await history.get_messages("2")] == [("assistant", "é")]
        assert await history.list_sessions() == ["1", "2"]
        await history.clear("1")
        assert await history.get_messages("1") == []
        assert await history.list_sessions() == ["2"]


asyncio.run(check_checkpoints())
asyncio.run(check_history())
