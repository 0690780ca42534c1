"""The state of a flow."""

from __future__ import annotations

import datetime
from typing import Any

from crewai.flow.flow import Flow, listen, start
from crewai.flow.persistence import persist
from crewai_persistence_cosmosdb import CosmosDBFlowPersistence
from pydantic import BaseModel
from scenario import ENDPOINT, KEY

persistence = CosmosDBFlowPersistence(endpoint=ENDPOINT, key=KEY, database_name="crewai", container_name="flows")


class State(BaseModel):
    when: datetime.date
    names: set[str]


persistence.save_state("1", "first", {"count": 1, "text": "é"})
persistence.save_state("1", "second", {"count": 2, "text": "é"})
persistence.save_state("2", "first", State(when=datetime.date(2026, 1, 2), names={"ada"}))
assert persistence.load_state("1") == {"id": "1", "count": 2, "text": "é"}
assert persistence.load_state("2") == {"id": "2", "when": "2026-01-02", "names": ["ada"]}
assert persistence.load_state("3") is None


@persist(persistence)
class Counting(Flow[dict[str, Any]]):
    @start()
    def first(self) -> None:
        self.state["count"] = self.state.get("count", 0) + 1

    @listen(first)
    def second(self) -> int:
        self.state["count"] += 1
        return self.state["count"]


flow = Counting()
assert flow.kickoff() == 2
assert persistence.load_state(flow.state["id"])["count"] == 2
assert Counting().kickoff(inputs={"id": flow.state["id"]}) == 4
