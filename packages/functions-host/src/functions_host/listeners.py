"""Trigger listeners and their start: one that cannot start yet is tried again, the others run.

Rules: azure-webjobs-sdk Listeners/FunctionListener.cs (partial host start-up, 2 s to 2 min of back-off).
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from typing import Protocol

from azure.core.exceptions import AzureError

from .errors import ListenerStartError

FIRST_DELAY_S = 2.0
LONGEST_DELAY_S = 120.0

_log = logging.getLogger("Host.Startup")


class Listener(Protocol):
    """What watches a source for one function."""

    function_name: str

    async def start(self) -> None:
        """Begin; ListenerStartError or AzureError when the source is not there yet."""

    async def stop(self, *, drain: bool) -> None:
        """End: take nothing more, wait for the call under way. `drain` lets that call count as done."""


class ListenerSupervisor:
    """Starts the listeners side by side and stops them together."""

    def __init__(self, listeners: Sequence[Listener]) -> None:
        self._listeners = listeners
        self._starts: dict[str, asyncio.Task[None]] = {}

    def start(self) -> None:
        """Begin to start all of them, in the background."""
        for listener in self._listeners:
            self._starts[listener.function_name] = asyncio.create_task(_start(listener))

    async def started(self) -> None:
        """Wait until every listener listens."""
        await asyncio.gather(*(asyncio.shield(task) for task in self._starts.values()))

    def is_listening(self, function_name: str) -> bool:
        """Whether a function's listener is past its start."""
        task = self._starts.get(function_name)
        return task is not None and task.done() and not task.cancelled()

    async def stop(self, *, drain: bool) -> None:
        """Stop all listeners, also those that are still trying to start."""
        for task in self._starts.values():
            task.cancel()
        await asyncio.gather(*self._starts.values(), return_exceptions=True)
        outcomes = await asyncio.gather(
            *(listener.stop(drain=drain) for listener in self._listeners), return_exceptions=True
        )
        for listener, outcome in zip(self._listeners, outcomes, strict=True):
            if isinstance(outcome, BaseException):
                _log.error("the listener of '%s' did not stop well", listener.function_name, exc_info=outcome)
        self._starts.clear()


async def _start(listener: Listener) -> None:
    delay_s = FIRST_DELAY_S
    while True:
        try:
            await listener.start()
        except (ListenerStartError, AzureError) as error:
            reason = str(error).partition("\n")[0]
            _log.error("The listener for function '%s' was unable to start: %s", listener.function_name, reason)
            await asyncio.sleep(delay_s)
            delay_s = min(delay_s * 2, LONGEST_DELAY_S)
        else:
            _log.info("The listener for function '%s' started", listener.function_name)
            return
