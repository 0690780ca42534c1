"""The listener of one timer function.

Rules: azure-webjobs-sdk-extensions Timers/Listener/TimerListener.cs and Scheduling/ScheduleMonitor.cs.
"""

from __future__ import annotations

import asyncio
import logging
import random
from datetime import UTC, datetime, timedelta
from pathlib import Path

from ..app_settings import AppSettings
from ..errors import InvocationError, RetriesAbortedError
from ..functions import LoadedFunction
from ..invocation import Invoker
from ..payloads import timer_argument
from ..retry import RetryPolicy, RetryState, is_set_within, run_with_retries
from .monitor import TimerLock, TimerMonitor, TimerStatus
from .schedule import parse_schedule

# The real host retries its blob lease every 15 s; a file lock costs nothing to retry.
LOCK_POLL_S = 1.0
_SHORTEST_MONITORED = timedelta(minutes=1)

_log = logging.getLogger("Host.Triggers.Timer")


class TimerListener:
    """Invokes a function on its schedule, one call at a time, while it holds the timer's lock."""

    def __init__(
        self,
        function: LoadedFunction,
        invoker: Invoker,
        settings: AppSettings,
        state_dir: Path,
        retry: RetryPolicy | None,
    ) -> None:
        """Parse the schedule. Raises FunctionIndexError."""
        self.function_name = function.name
        self._function = function
        self._invoker = invoker
        self._retry = retry
        self._schedule = parse_schedule(str(function.trigger.get("schedule", "")), settings)
        self._run_on_startup = _is_true(function.trigger.get("runOnStartup", False))
        self._lock = TimerLock(state_dir, function.name)
        wanted = _is_true(function.trigger.get("useMonitor", True))
        self._monitor = TimerMonitor(state_dir, function.name) if wanted and self._is_slow() else None
        self._halted = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    def _is_slow(self) -> bool:
        first = self._schedule.next_after(_now())
        return self._schedule.next_after(first) - first >= _SHORTEST_MONITORED

    async def start(self) -> None:
        """Wait for the lock, then for the schedule."""
        self._task = asyncio.create_task(self._run())

    async def stop(self, *, drain: bool, grace_s: float) -> None:  # noqa: ARG002 - nothing to checkpoint
        """Stop waiting. A running call gets `grace_s` seconds."""
        self._halted.set()
        if self._task is not None:
            await asyncio.wait([self._task], timeout=grace_s)
            self._task.cancel()
        self._lock.release()

    async def _run(self) -> None:
        try:
            while not self._lock.try_acquire():
                if await is_set_within(self._halted, LOCK_POLL_S):
                    return
            due = await self._first_due()
            while not await is_set_within(self._halted, max(0.0, (due - _now()).total_seconds())):
                # Ticks missed during a long call become one call right after it.
                due = await self._fire(max(due, self._missed(due)), past_due=False)
        except Exception:  # noqa: BLE001 - a background task must not fail silently
            _log.exception("function=%s timer stopped", self.function_name)

    def _missed(self, due: datetime) -> datetime:
        """Return the current time if a later tick than `due` has also passed, else `due`."""
        now = _now()
        return now if self._schedule.next_after(due) <= now else due

    async def _first_due(self) -> datetime:
        """Make the startup call, if any, and return the next scheduled time."""
        now = _now()
        upcoming = self._schedule.next_after(now)
        if self._monitor is not None:
            status = self._monitor.read()
            if status is None:
                self._monitor.write(TimerStatus(None, upcoming, now))
            elif self._expected(status) < now:
                return await self._fire(now, past_due=True)
        if self._run_on_startup:
            return await self._fire(now, past_due=False)
        return upcoming

    def _expected(self, status: TimerStatus) -> datetime:
        """Return when the timer was due, or the next time if its schedule has changed."""
        expected = self._schedule.next_after(status.last or status.updated)
        return status.next if expected == status.next else self._schedule.next_after(_now())

    async def _fire(self, moment: datetime, *, past_due: bool) -> datetime:
        """Call the function and return the next scheduled time."""
        status = self._monitor.read() if self._monitor else None
        shown = status.as_dict() if status else None

        async def call(state: RetryState) -> object:
            argument = timer_argument(self._function, past_due=past_due, status=shown)
            return await self._invoker.invoke(self._function, {self._function.argument: argument}, retry=state)

        try:
            await run_with_retries(self._retry, call, halted=self._halted, random=random.random)
        except (InvocationError, RetriesAbortedError) as error:
            _log.warning("function=%s failed; waiting for the next scheduled time: %s", self.function_name, error)
        upcoming = self._schedule.next_after(moment)
        if self._monitor is not None:
            self._monitor.write(TimerStatus(moment, upcoming, _now()))
        return upcoming


def _now() -> datetime:
    return datetime.now(UTC).astimezone()


def _is_true(value: object) -> bool:
    return str(value).lower() == "true"
