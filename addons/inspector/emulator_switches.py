"""Switches of this repository's emulator, which make its conditions harder. No other account has them."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Any, Final

from aiohttp import ClientError, ClientSession, ClientTimeout

from shared.platform.errors import MalformedRequest
from shared.settings import settings

_SETTINGS, _FAULTS = "_emulator/settings", "_emulator/faults"
_NO_EMULATOR: Final = (ClientError, TimeoutError, KeyError, ValueError)
_CHANGES: Final[dict[str, dict[str, object]]] = {
    "lag": {"replicaLag": "2000ms"},
    # Without provisioned throughput, the emulator limits each container to 400 RU/s.
    "throttle": {"throttle": True},
    "faults": {},
}
_WRITES: Final = "batch,create,execute,patch,upsert"
# Of a rule in one logical partition.
_STRIKES: Final = 2
FAILURES: Final[tuple[dict[str, object], ...]] = (
    {"fault": 503, "operation": _WRITES, "probability": 0.2, "times": 60, "seed": 1},
    {"fault": "drop", "when": "after", "operation": _WRITES, "probability": 0.2, "times": 60, "seed": 2},
    # A change feed that cannot be read invokes no function. There are two feeds.
    {"fault": "hang", "hang-ms": 10_000, "operation": "change-feed", "times": 2},
)


class EmulatorSwitches:
    """One switch at a time. It is turned off after `limit_s` unless it is renewed: a closed tab cannot turn it off."""

    def __init__(self, *, limit_s: float = 10.0) -> None:
        self._limit_s = limit_s
        self._name = ""
        self._undo: list[tuple[str, str, object]] = []
        self._limit: asyncio.Task[None] | None = None
        self._lock = asyncio.Lock()

    @property
    def name(self) -> str:
        """The switch that is on, or nothing."""
        return self._name

    async def switch(self, name: str, partitions: Sequence[str] = ()) -> bool:
        """Turn on or renew a switch, or turn off all with an empty name. Returns False if the account has none.

        Writes fail only in these logical partitions, so that nobody else's do. Raises MalformedRequest for an unknown
        name.
        """
        if name and name not in _CHANGES:
            raise MalformedRequest(f"There is no switch {name!r}; use one of {', '.join(_CHANGES)}.")
        async with self._lock:
            if self._limit is not None:
                self._limit.cancel()
            self._limit = asyncio.create_task(self._end()) if name else None
            if name != self._name:
                await self._set_back()
                try:
                    await self._turn_on(name, partitions)
                except _NO_EMULATOR:
                    await self._set_back()
                    return False
            return True

    async def _turn_on(self, name: str, partitions: Sequence[str]) -> None:
        self._name = name
        before = await _call("GET", _SETTINGS) if name else {}
        if changes := _CHANGES.get(name):
            self._undo.append(("PATCH", _SETTINGS, {setting: before[setting] for setting in changes}))
            await _call("PATCH", _SETTINGS, changes)
        for rule in _failures_in(partitions) if name == "faults" else ():
            added = await _call("POST", _FAULTS, {**rule, "database": settings().database})
            self._undo.append(("DELETE", f"{_FAULTS}/{added['id']}", None))

    async def _end(self) -> None:
        await asyncio.sleep(self._limit_s)
        async with self._lock:
            await self._set_back()

    async def _set_back(self) -> None:
        """Undo the switch. The emulator may have been reset since, so missing faults are ignored."""
        self._name = ""
        while self._undo:
            with suppress(*_NO_EMULATOR):
                await _call(*self._undo.pop())


SWITCHES: Final = EmulatorSwitches()


def _failures_in(partitions: Sequence[str]) -> Iterator[dict[str, object]]:
    """FAILURES, with a rule of its own for the writes in each logical partition."""
    for rule in FAILURES:
        if rule["operation"] != _WRITES:
            yield rule
            continue
        for number, partition in enumerate(partitions):
            yield {**rule, "partition-key": partition, "seed": f"{rule['seed']}{number}", "times": _STRIKES}


async def _call(method: str, path: str, body: object = None) -> dict[str, Any]:
    """Raises one of _NO_EMULATOR. The emulator accepts this from its own machine only, which needs no key."""
    url = f"{settings().account.endpoint.rstrip('/')}/{path}"
    async with (
        ClientSession(timeout=ClientTimeout(total=5), raise_for_status=True) as session,
        session.request(method, url, json=body) as answer,
    ):
        return dict(await answer.json(content_type=None))
