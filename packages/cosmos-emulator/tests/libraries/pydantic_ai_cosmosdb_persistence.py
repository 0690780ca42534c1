"""The steps of a run, and message history."""

from __future__ import annotations

import asyncio

from pydantic_ai.messages import ModelRequest, ModelResponse, TextPart, UserPromptPart
from pydantic_ai_cosmosdb_persistence import CosmosDBAsyncKV, CosmosDBHistoryStore, CosmosDBStepStore
from pydantic_ai_harness.step_persistence import ContinuableSnapshot, RunRecord, ToolEffectRecord
from scenario import ENDPOINT, KEY

ACCOUNT = {"endpoint": ENDPOINT, "key": KEY, "database_name": "pydantic"}
MESSAGES = [
    ModelRequest(parts=[UserPromptPart("Hello")]),
    ModelResponse(parts=[TextPart("é")]),
]


async def main() -> None:
    values = CosmosDBAsyncKV(**ACCOUNT, container_name="values")
    for key in ("b#2", "b#1", "a/?"):
        await values.put("partition", key, f"value of {key}")
    assert await values.query("partition", "b#") == [("b#1", "value of b#1"), ("b#2", "value of b#2")]
    assert await values.get("partition", "a/?") == "value of a/?"
    await values.delete("partition", "a/?")
    assert [key for key, _ in await values.query("partition")] == ["b#1", "b#2"]

    history = CosmosDBHistoryStore(**ACCOUNT, container_name="history")
    await history.save("1", MESSAGES)
    assert await history.load("1") == MESSAGES
    await history.delete("1")
    assert await history.load("1") is None

    steps = CosmosDBStepStore(**ACCOUNT, container_name="steps", max_snapshots_per_run=2)
    await steps.register_run(RunRecord(run_id="1", conversation_id="c"))
    await steps.register_run(RunRecord(run_id="2", conversation_id="c", parent_run_id="1"))
    assert [run.run_id for run in await steps.list_runs(conversation_id="c")] == ["1", "2"]
    assert [run.run_id for run in await steps.list_runs(parent_run_id="1")] == ["2"]
    for step in range(3):
        await steps.save_snapshot(ContinuableSnapshot(run_id="1", step_index=step, messages=MESSAGES))
    assert [one.step_index for one in await steps.list_snapshots(run_id="1")] == [1, 2]
    assert (await steps.latest_snapshot(run_id="1")).messages == MESSAGES
    effect = ToolEffectRecord(tool_call_id="call", tool_name="tool", run_id="1", status="started")
    await steps.record_tool_effect(effect)
    assert [one.tool_call_id for one in await steps.list_unresolved_tool_effects(run_id="1")] == ["call"]


asyncio.run(main())
