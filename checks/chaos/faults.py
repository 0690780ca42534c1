"""Fault injection rules, replaced every few seconds."""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from typing import Any

from aiohttp import ClientError, ClientSession

from checks.chaos.database import Database

Rule = dict[str, Any]

_WRITES = "create,replace,upsert,patch,delete,batch,execute"
_READS = "read,query,change-feed"
# By name in the report.
_KINDS: dict[str, Rule] = {
    "429": {"fault": 429, "retry-after-ms": 20},
    "449": {"fault": 449, "operation": _WRITES},
    "408": {"fault": 408},
    "408, write applied": {"fault": 408, "when": "after", "operation": _WRITES},
    "410": {"fault": 410, "operation": f"{_WRITES},{_READS},list-ranges"},
    "500": {"fault": 500},
    "500, write applied": {"fault": 500, "when": "after", "operation": _WRITES},
    "503": {"fault": 503},
    "503, write applied": {"fault": 503, "when": "after", "operation": _WRITES},
    "connection dropped": {"fault": "drop"},
    "connection dropped, write applied": {"fault": "drop", "when": "after", "operation": _WRITES},
    "no answer": {"fault": "hang", "hang-ms": 1500},
    "no answer, write applied": {"fault": "hang", "hang-ms": 1500, "when": "after", "operation": _WRITES},
}
_CONTAINERS = ("users", "posts", "feed", "failures", "leases")
_LONGEST_S = 3.0


class Faults:
    """The active rules, and the number of injections by kind across database restarts."""

    def __init__(self, database: Database, session: ClientSession, generator: random.Random) -> None:
        self._url = f"{database.address}/_emulator/faults"
        self._session = session
        self._random = generator
        self._kinds: list[str] = []
        self._rules: list[Rule] = []
        self._lock = asyncio.Lock()
        self.struck: Counter[str] = Counter(dict.fromkeys(_KINDS, 0))

    async def strike(self) -> None:
        """Replace the rules until cancelled."""
        while True:
            async with self._lock:
                await self._count()
                self._choose()
                await self._put()
            await asyncio.sleep(self._random.uniform(0.5, _LONGEST_S))

    async def cease(self) -> None:
        async with self._lock:
            await self._count()
            self._kinds, self._rules = [], []
            await self._put()

    async def outlive(self, database: Database, pause_s: float) -> None:
        """Kill the database, restart it after a pause, and restore the rules."""
        async with self._lock:
            await self._count()
            await database.kill()
            await asyncio.sleep(pause_s)
            await database.start()
            await self._put()

    def _choose(self) -> None:
        self._kinds = self._random.sample(list(_KINDS), k=self._random.randint(2, 5))
        self._rules = [self._rule(kind) for kind in self._kinds]

    def _rule(self, kind: str) -> Rule:
        # Rarely in all containers, or often in one, which can become nearly unavailable.
        rule = _KINDS[kind] | {"seed": self._random.randrange(2**31)}
        rule.setdefault("operation", self._random.choice([f"{_WRITES},{_READS}", _WRITES, _READS]))
        if self._random.random() < 0.5:
            return rule | {"probability": self._random.uniform(0.01, 0.05)}
        rule |= {"container": self._random.choice(_CONTAINERS), "probability": self._random.uniform(0.05, 0.3)}
        if self._random.random() < 0.1:
            rule |= {"probability": 1.0, "times": self._random.randint(5, 40)}
        return rule

    async def _count(self) -> None:
        # Call before replacing the rules, which resets their counters.
        async with self._session.get(self._url) as answer:
            found = (await answer.json())["faults"]
        for kind, fault in zip(self._kinds, found, strict=True):
            self.struck[kind] += fault["struck"]

    async def _put(self) -> None:
        async with self._session.put(self._url, json=self._rules) as answer:
            if answer.status != 200:
                raise ClientError(await answer.text())
