"""The checkpointer, alone and in a graph, which continues in another process' place."""

from __future__ import annotations

import asyncio
import itertools
import os
from collections.abc import AsyncIterator
from typing import TypedDict

from langgraph.graph import END, START, StateGraph
from langgraph_checkpoint_cosmosdb import CosmosDBSaver
from scenario import ENDPOINT, KEY, check_conformance

os.environ |= {"COSMOSDB_ENDPOINT": ENDPOINT, "COSMOSDB_KEY": KEY}
numbers = itertools.count()


class State(TypedDict):
    count: int


async def saver() -> AsyncIterator[CosmosDBSaver]:
    yield CosmosDBSaver("conformance", f"checkpoints{next(numbers)}")


def count(state: State) -> State:
    return {"count": state["count"] + 1}


def graph() -> object:
    builder = StateGraph(State)
    builder.add_node("count", count)
    builder.add_edge(START, "count")
    builder.add_edge("count", END)
    return builder.compile(checkpointer=CosmosDBSaver("graphs", "checkpoints"))


asyncio.run(check_conformance(saver, least=81))

config = {"configurable": {"thread_id": "thread"}}
assert graph().invoke({"count": 1}, config) == {"count": 2}
assert graph().get_state(config).values == {"count": 2}
assert [state.values.get("count") for state in graph().get_state_history(config)] == [2, 1, None]
CosmosDBSaver("graphs", "checkpoints").delete_thread("thread")
assert graph().get_state(config).values == {}
