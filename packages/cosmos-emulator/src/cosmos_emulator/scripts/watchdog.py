"""A thread that kills engines when their script exceeds its time limit."""

from __future__ import annotations

import math
import threading
import time
from typing import Protocol


class Killable(Protocol):
    """An object that can be stopped from another thread."""

    def kill_overdue(self) -> None:
        """Stop the object."""


class Watchdog:
    """Kills watched objects at their deadlines.

    The thread starts with the first watched object. Watching and releasing happen within microseconds, many times per
    script, and wake the thread only if the new deadline is earlier than its next one.
    """

    def __init__(self) -> None:
        self._due: dict[Killable, float] = {}
        self._changed = threading.Condition()
        self._wakes_at = math.inf
        self._thread: threading.Thread | None = None

    def watch(self, one: Killable, due: float) -> None:
        """Kill the object at the deadline, in `time.monotonic()` seconds, unless it is released first."""
        with self._changed:
            self._due[one] = due
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="cosmos-script-watchdog", daemon=True)
                self._thread.start()
            elif due < self._wakes_at:
                self._changed.notify()

    def release(self, one: Killable) -> None:
        """Release the object; it is not killed after this returns."""
        with self._changed:
            self._due.pop(one, None)

    def _run(self) -> None:
        with self._changed:
            while True:
                now = time.monotonic()
                for one in [one for one, due in self._due.items() if due <= now]:
                    del self._due[one]
                    one.kill_overdue()
                self._wakes_at = min(self._due.values(), default=math.inf)
                self._changed.wait(None if math.isinf(self._wakes_at) else self._wakes_at - now)
