"""The parts of an emulator that operations use."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Callable
from concurrent.futures import Executor, Future
from dataclasses import dataclass, field
from typing import Final, TypeVar

from cosmos_emulator.charges import ChargeModel
from cosmos_emulator.runtime.gate import Gate
from cosmos_emulator.runtime.pacing import MAX_WORK_S, ON_LOOP, MovesToWorker, Turns, in_worker
from cosmos_emulator.scripts import ENGINES, ScriptLimits
from cosmos_emulator.settings import EmulatorSettings
from cosmos_emulator.store.account import Account

T = TypeVar("T")
_LOG: Final = logging.getLogger(__name__)

_START_DELAY_S: Final = 0.001  # after the script's response is sent


@dataclass(slots=True, eq=False)
class Gateway:
    """`workers` are threads for scripts and long writes, `readers` for long queries.

    runtime/pacing.py describes the turns. `account` can be replaced by other contents, but not during an operation,
    which passes the `gate`.
    """

    settings: EmulatorSettings
    account: Account
    charges: ChargeModel
    workers: Executor
    readers: Executor
    worker_turns: Turns = field(default_factory=Turns)
    loop_turn: asyncio.Lock = field(default_factory=asyncio.Lock)
    gate: Gate = field(default_factory=Gate)
    indexes_changed: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when the account can have got a global secondary index."""

    @property
    def script_limits(self) -> ScriptLimits:
        """The current limits of scripts."""
        return ScriptLimits(
            time_limit_s=self.settings.script_time_limit_s,
            accepted_operations=self.settings.script_operations,
            clock=self.settings.clock,
            hides_newer=self.settings.script_edition != "latest",
        )

    async def run(self, work: Callable[[], T], *, is_long: bool, reads: bool = False) -> T:
        """Run `work` in a worker thread if it is long. Otherwise, raise MovesToWorker if it turns out to be long."""
        if not is_long:
            with ON_LOOP:
                return work()

        def paced() -> T:
            with in_worker(self.worker_turns, MAX_WORK_S):
                return work()

        return await self.in_worker(paced, reads=reads)

    async def run_anywhere(self, work: Callable[[], T], *, is_long: bool, reads: bool = False) -> T:
        """Run `work`, which has no effects, on the event loop or in a worker thread."""
        try:
            return await self.run(work, is_long=is_long, reads=reads)
        except MovesToWorker:
            return await self.run(work, is_long=True, reads=reads)

    async def in_worker(self, work: Callable[[], T], *, reads: bool = False) -> T:
        """Run `work` in a worker thread; `reads` selects the threads for queries.

        A canceled caller still waits for the thread, which can be using the caller's transaction.
        """
        loop = asyncio.get_running_loop()
        future = loop.run_in_executor(self.readers if reads else self.workers, work)
        try:
            return await asyncio.shield(future)
        except asyncio.CancelledError:
            await asyncio.wait([future])
            raise
        finally:
            if ENGINES.lacks_spare:
                loop.call_later(_START_DELAY_S, self._start_engines)

    def _start_engines(self) -> None:
        with contextlib.suppress(RuntimeError):  # the workers are shut down
            self.workers.submit(ENGINES.start_spares).add_done_callback(_log_failure)


def _log_failure(started: Future[None]) -> None:
    if not started.cancelled() and (error := started.exception()) is not None:
        _LOG.warning("could not start a spare script process: %r", error)
