"""Trigger listeners. If one cannot start, it is retried while the other listeners run.

Rules: azure-webjobs-sdk Listeners/FunctionListener.cs.
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
    """Watches an event source for one function."""

    function_name: str

    async def start(self) -> None:
        """Start watching. After an exception, the supervisor tries again."""

    async def stop(self, *, drain: bool, grace_s: float) -> None:
        """Stop watching and wait up to `grace_s` seconds for the call. With `drain`, its batch is checkpointed."""


class ListenerSupervisor:
    """Starts and stops listeners concurrently."""

    def __init__(self, listeners: Sequence[Listener]) -> None:
        self._listeners = listeners
        self._starts: dict[str, asyncio.Task[None]] = {}
        # The outcomes of the first attempts: an error, or None.
        self._attempts: list[asyncio.Future[ListenerStartError | None]] = []

    def start(self) -> None:
        """Start all listeners in the background."""
        for listener in self._listeners:
            attempt: asyncio.Future[ListenerStartError | None] = asyncio.get_running_loop().create_future()
            self._attempts.append(attempt)
            self._starts[listener.function_name] = asyncio.create_task(_start(listener, attempt))

    async def started(self) -> None:
        """Wait until every listener has started."""
        await asyncio.gather(*(asyncio.shield(task) for task in self._starts.values()))

    async def started_at_once(self) -> None:
        """Wait until every listener has started. Raises ListenerStartError if one cannot start yet."""
        for outcome in asyncio.as_completed(self._attempts):
            if (error := await outcome) is not None:
                raise error

    def is_listening(self, function_name: str) -> bool:
        """Return whether a listener has started."""
        task = self._starts.get(function_name)
        return task is not None and task.done() and not task.cancelled()

    def listener(self, function_name: str) -> Listener | None:
        """Return the listener of a function."""
        return next((each for each in self._listeners if each.function_name.lower() == function_name.lower()), None)

    async def stop(self, *, drain: bool, grace_s: float) -> None:
        """Stop all listeners, including those that have not started."""
        for task in self._starts.values():
            task.cancel()
        await asyncio.gather(*self._starts.values(), return_exceptions=True)
        outcomes = await asyncio.gather(
            *(listener.stop(drain=drain, grace_s=grace_s) for listener in self._listeners), return_exceptions=True
        )
        for listener, outcome in zip(self._listeners, outcomes, strict=True):
            if isinstance(outcome, BaseException):
                _log.error("The listener for function '%s' failed to stop", listener.function_name, exc_info=outcome)
        self._starts.clear()


async def _start(listener: Listener, attempt: asyncio.Future[ListenerStartError | None]) -> None:
    delay_s = FIRST_DELAY_S
    while True:
        try:
            await listener.start()
        except Exception as error:  # noqa: BLE001 - a background task must not fail silently
            reason = str(error).partition("\n")[0]
            unexpected = None if isinstance(error, (ListenerStartError, AzureError)) else error
            message = f"The listener for function '{listener.function_name}' was unable to start: {reason}"
            _log.error("%s", message, exc_info=unexpected)
            if not attempt.done():
                attempt.set_result(ListenerStartError(message))
            await asyncio.sleep(delay_s)
            delay_s = min(delay_s * 2, LONGEST_DELAY_S)
        else:
            if not attempt.done():
                attempt.set_result(None)
            level = logging.INFO if delay_s > FIRST_DELAY_S else logging.DEBUG
            _log.log(level, "The listener for function '%s' started", listener.function_name)
            return
