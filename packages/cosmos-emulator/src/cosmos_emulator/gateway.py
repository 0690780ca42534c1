"""The parts of an emulator that operations use."""

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

_START_DELAY_S: Final = 0.001  # after the script's response is sent


@dataclass(frozen=True, slots=True)
class Gateway:
    """`workers` are threads for scripts and long queries."""

    settings: EmulatorSettings
    account: Account
    charges: ChargeModel
    workers: Executor

    @property
    def script_limits(self) -> ScriptLimits:
        """The current limits of scripts."""
        return ScriptLimits(
            time_limit_s=self.settings.script_time_limit_s, accepted_operations=self.settings.script_operations
        )

    async def in_worker(self, work: Callable[[], T]) -> T:
        """Run `work` in a worker thread.

        A canceled caller still waits for the thread, which can be using the caller's transaction.
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
                loop.call_later(_START_DELAY_S, self._start_engines)

    def _start_engines(self) -> None:
        with contextlib.suppress(RuntimeError):  # the workers are shut down
            self.workers.submit(ENGINES.start_spares).add_done_callback(_log_failure)


def _log_failure(started: Future[None]) -> None:
    if not started.cancelled() and (error := started.exception()) is not None:
        _LOG.warning("could not start a spare script process: %r", error)
