"""The event loop of the triggers, in a thread of its own.

A function that blocks the app's event loop therefore stops neither lease renewals nor the timeout. In the real host,
triggers and functions run in separate processes.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine
from typing import Any, Self, TypeVar

Result = TypeVar("Result")


class TriggerThread:
    """Runs an event loop inside the block. At its end, the remaining tasks are cancelled."""

    def __init__(self) -> None:
        self._thread = threading.Thread(target=self._run, name="triggers", daemon=True)
        self._closing = asyncio.Event()

    async def __aenter__(self) -> Self:
        self._loop = asyncio.new_event_loop()
        self._thread.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._closing.set)
        await asyncio.to_thread(self._thread.join)

    def _run(self) -> None:
        with asyncio.Runner(loop_factory=lambda: self._loop) as runner:
            runner.run(self._until_closing())

    async def _until_closing(self) -> None:
        await self._closing.wait()

    async def run(self, work: Coroutine[Any, Any, Result]) -> Result:
        """Run a coroutine on this loop and return its result."""
        return await run_on(self._loop, work)


async def run_on(loop: asyncio.AbstractEventLoop, work: Coroutine[Any, Any, Result]) -> Result:
    """Run a coroutine on another thread's loop and return its result. Cancelling this call cancels the coroutine."""
    return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(work, loop))
