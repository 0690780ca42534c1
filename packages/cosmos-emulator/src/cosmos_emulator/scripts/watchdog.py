"""Whatever is not done by its time is killed: one thread watches every engine that is at work."""

from __future__ import annotations

import math
import threading
import time
from typing import Protocol


class Killable(Protocol):
    """What can be stopped from another thread at any moment."""

    def kill_overdue(self) -> None: ...


class Watchdog:
    """Kills what is still watched when its time has come. The thread starts with the first that is watched.

    A script is watched and let go within microseconds, again and again: neither wakes the thread, unless something is
    due before it would wake by itself.
    """

    def __init__(self) -> None:
        self._due: dict[Killable, float] = {}
        self._changed = threading.Condition()
        self._wakes_at = math.inf
        self._thread: threading.Thread | None = None

    def watch(self, one: Killable, due: float) -> None:
        """Kills `one` at `due`, a moment of `time.monotonic()`, unless it was let go before."""
        with self._changed:
            self._due[one] = due
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="cosmos-script-watchdog", daemon=True)
                self._thread.start()
            elif due < self._wakes_at:
                self._changed.notify()

    def let_go(self, one: Killable) -> None:
        """Once this returns, `one` is not killed any more."""
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
