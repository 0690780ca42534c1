"""Switches of this repository's emulator, which make its conditions harder. No other account has them."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from functools import partial
from typing import Any, Final

from aiohttp import ClientError, ClientSession, ClientTimeout

from shared.settings import settings

_PAUSE_S: Final = 10.0
_SETTINGS, _FAULTS = "_emulator/settings", "_emulator/faults"
_NO_EMULATOR: Final = (ClientError, TimeoutError, KeyError, ValueError)
_CHANGES: Final[dict[str, dict[str, object]]] = {
    "lag": {"replicaLag": "2000ms"},
    # Without provisioned throughput, the emulator limits each container to 400 RU/s.
    "throttle": {"throttle": True},
    "faults": {},
}
_FAILURES: Final[tuple[dict[str, object], ...]] = (
    {"fault": 503, "operation": "batch,patch,create", "probability": 0.2, "times": 60, "seed": 1},
    {"fault": "drop", "when": "after", "operation": "batch,patch", "probability": 0.2, "times": 60, "seed": 2},
    # While it cannot be read, the change feed invokes no function. This rule is deleted after _PAUSE_S.
    {"fault": 503, "operation": "change-feed"},
)


class EmulatorSwitches:
    """One switch at a time. It is set back after `limit_s` unless it is renewed: a closed tab may not do so."""

    def __init__(self, *, limit_s: float = 30.0) -> None:
        self._limit_s = limit_s
        self._name = ""
        self._undo: list[tuple[str, str, object]] = []
        self._timers: dict[str, asyncio.Task[None]] = {}
        self._lock = asyncio.Lock()

    async def switch(self, name: str) -> bool:
        """Turn on or renew a switch, or turn off all with an empty name. Returns False if the account has none."""
        async with self._lock:
            if name != self._name:
                await self._set_back()
                try:
                    await self._turn_on(name)
                except _NO_EMULATOR:
                    await self._set_back()
                    return False
            self._start("limit", self._limit_s, self._end if name else None)
            return True

    async def _turn_on(self, name: str) -> None:
        self._name = name
        changes = _CHANGES.get(name, {})
        before = await _call("GET", _SETTINGS) if name else {}
        if changes:
            self._undo.append(("PATCH", _SETTINGS, {one: before[one] for one in changes}))
            await _call("PATCH", _SETTINGS, changes)
        for rule in _FAILURES if name == "faults" else ():
            added = await _call("POST", _FAULTS, {**rule, "database": settings().database})
            self._undo.append(("DELETE", f"{_FAULTS}/{added['id']}", None))
        if name == "faults":
            self._start("pause", _PAUSE_S, partial(_attempt, *self._undo[-1]))

    def _start(self, timer: str, delay_s: float, action: Callable[[], Awaitable[None]] | None) -> None:
        """Run an action later, instead of the one that this timer would run."""

        async def run(later: Callable[[], Awaitable[None]]) -> None:
            await asyncio.sleep(delay_s)
            await later()

        if timer in self._timers:
            self._timers.pop(timer).cancel()
        if action is not None:
            self._timers[timer] = asyncio.create_task(run(action))

    async def _end(self) -> None:
        async with self._lock:
            await self._set_back()

    async def _set_back(self) -> None:
        self._name = ""
        while self._undo:
            await _attempt(*self._undo.pop())


async def _attempt(method: str, path: str, body: object) -> None:
    """Set something back, which may be gone already."""
    with suppress(*_NO_EMULATOR):
        await _call(method, path, body)


async def _call(method: str, path: str, body: object = None) -> dict[str, Any]:
    """Raises one of _NO_EMULATOR. The emulator accepts this from its own machine only, which needs no key."""
    url = f"{settings().account.endpoint.rstrip('/')}/{path}"
    async with (
        ClientSession(timeout=ClientTimeout(total=5), raise_for_status=True) as session,
        session.request(method, url, json=body) as answer,
    ):
        return dict(await answer.json(content_type=None))
