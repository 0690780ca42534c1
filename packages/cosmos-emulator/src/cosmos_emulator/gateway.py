"""The parts of a running emulator that operations use."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Callable
from concurrent.futures import Executor, Future
from dataclasses import dataclass
from typing import Final, TypeVar

from cosmos_emulator.charges import ChargeModel
from cosmos_emulator.scripts import ENGINES, ScriptLimits
from cosmos_emulator.settings import EmulatorSettings
from cosmos_emulator.store.account import Account

T = TypeVar("T")
_LOG: Final = logging.getLogger(__name__)

_ANSWERED_S: Final = 0.001  # after which the answer of a script is under way


@dataclass(frozen=True, slots=True)
class Gateway:
    """`workers` are threads for what may take seconds: scripts, which they wait for, and long queries."""

    settings: EmulatorSettings
    account: Account
    charges: ChargeModel
    workers: Executor

    @property
    def script_limits(self) -> ScriptLimits:
        """What a script may use, as the settings say now."""
        return ScriptLimits(
            time_limit_s=self.settings.script_time_limit_s, accepted_operations=self.settings.script_operations
        )

    async def in_worker(self, work: Callable[[], T]) -> T:
        """What `work` returns, called in a worker thread.

        A cancelled caller waits for the thread all the same: it may be using the caller's transaction.
        """
        loop = asyncio.get_running_loop()
        future = loop.run_in_executor(self.workers, work)
        try:
            return await asyncio.shield(future)
        except asyncio.CancelledError:
            await asyncio.wait([future])
            raise
        finally:
            if ENGINES.lacks_spare:
                loop.call_later(_ANSWERED_S, self._start_engines)

    def _start_engines(self) -> None:
        with contextlib.suppress(RuntimeError):  # the workers have been shut down meanwhile
            self.workers.submit(ENGINES.start_spares).add_done_callback(_tell_failure)


def _tell_failure(started: Future[None]) -> None:
    """Of a spare engine: nobody waits for it, and the next script will be told if there is none for it either."""
    if not started.cancelled() and (error := started.exception()) is not None:
        _LOG.warning("no spare process for scripts could be started: %r", error)
