"""A thread that kills engines with overdue scripts."""

from __future__ import annotations

import math
import threading
import time
from typing import Protocol


class Killable(Protocol):
    """Can be stopped from another thread."""

    def kill_overdue(self) -> None:
        """Stop the object."""


class Watchdog:
    """Kills watched objects at their deadlines.

    The thread starts with the first object. Watching and releasing take microseconds, many times per script, and wake
    the thread only for an earlier deadline.
    """

    def __init__(self) -> None:
        self._due: dict[Killable, float] = {}
        self._changed = threading.Condition()
        self._wakes_at = math.inf
        self._thread: threading.Thread | None = None

    def watch(self, one: Killable, due: float) -> None:
        """Kill the object at the deadline (`time.monotonic()`), unless it is released."""
        with self._changed:
            self._due[one] = due
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="cosmos-script-watchdog", daemon=True)
                self._thread.start()
            elif due < self._wakes_at:
                self._changed.notify()

    def release(self, one: Killable) -> None:
        """Release the object; afterwards, it is not killed."""
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
