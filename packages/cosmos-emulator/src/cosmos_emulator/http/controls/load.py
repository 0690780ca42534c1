"""`/_emulator/load?container={rid}`: charge and requests of each physical partition in the last two minutes.

    {"now": 1753000000, "windowS": 120, "partitions": {"0": [
        {"second": 1752999990, "chargeRu": 12.4, "requests": 3, "throttled": 1}, …]}}

As for throttling, a request to several partitions is charged to each in equal parts.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import parse_qs

from cosmos_emulator import json_text
from cosmos_emulator.errors import CosmosError
from cosmos_emulator.json_text import JsonObject
from cosmos_emulator.messages import headers as h
from cosmos_emulator.messages.answer import Answer

_PATH: Final = "/_emulator/load"
_WINDOW_S: Final = 120


@dataclass(slots=True)
class PartitionLoad:
    """The load of a physical partition in a second."""

    charge_ru: float = 0.0
    requests: int = 0
    throttled: int = 0


@dataclass(slots=True)
class Second:
    """The loads in a second of the emulator's clock, by container rid and partition id."""

    number: int
    loads: dict[tuple[str, str], PartitionLoad] = field(default_factory=dict)


class LoadHistory:
    """Adds up the responses of each second; keeps two minutes."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._seconds: deque[Second] = deque(maxlen=_WINDOW_S)

    def record(self, answer: Answer) -> None:
        """Count a response, unless it names no partition."""
        if h.PARTITIONS not in answer.headers:
            return
        container, partitions = answer.headers[h.CONTENT_PATH], answer.headers[h.PARTITIONS].split(",")
        now = int(self._clock())
        if not self._seconds or self._seconds[-1].number != now:
            self._seconds.append(Second(now))
        loads = self._seconds[-1].loads
        for partition in partitions:
            load = loads.setdefault((container, partition), PartitionLoad())
            load.charge_ru += answer.charge_ru / len(partitions)
            load.requests += 1
            load.throttled += answer.status == 429

    def answer(self, method: str, query: str) -> Answer:
        """Return the load of the container in the query string. Raises 400 without one."""
        if method != "GET":
            raise CosmosError(405, f"The method {method} is not allowed on {_PATH}; use GET.")
        rid = next(iter(parse_qs(query).get("container", ())), None)
        if rid is None:
            raise CosmosError(400, f"Name a container by its _rid: {_PATH}?container=…")
        now = int(self._clock())
        partitions: dict[str, list[JsonObject]] = {}
        for one in self._seconds:
            for (container, partition), load in one.loads.items():
                if container == rid and one.number > now - _WINDOW_S:
                    partitions.setdefault(partition, []).append(_described(one, load))
        return Answer(200, json_text.dump({"now": now, "windowS": _WINDOW_S, "partitions": partitions}))


def _described(one: Second, load: PartitionLoad) -> JsonObject:
    return {
        "second": one.number,
        "chargeRu": round(load.charge_ru, 4),
        "requests": load.requests,
        "throttled": load.throttled,
    }
