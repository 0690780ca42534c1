"""Ends the scripts that QuickJS does not end: it looks at its clock once in some 10,000 calls and jumps only.

A loop around a slow built-in function (one that compiles a large regular expression, say) would so run for minutes.
From another thread nothing can stop it, but its memory can be taken away: then the next allocation fails.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager


class Watchdog:
    """One thread for all engines of the process, started when the first is watched."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._watched: dict[object, tuple[float, Callable[[], None]]] = {}
        self._looks_at = 0.0
        self._thread: threading.Thread | None = None

    @contextmanager
    def watching(self, deadline: float, stop: Callable[[], None]) -> Iterator[None]:
        """Calls `stop` in its thread, once, when the block still runs at `deadline` (of time.monotonic).

        `stop` must be quick and raise nothing; it is never called after the block.
        """
        key = object()
        with self._changed:
            self._watched[key] = (deadline, stop)
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="cosmos-script-watchdog", daemon=True)
                self._thread.start()
            if deadline < self._looks_at:
                self._changed.notify()
        try:
            yield
        finally:
            with self._changed:
                self._watched.pop(key, None)

    def _run(self) -> None:
        with self._changed:
            while True:
                now = time.monotonic()
                for key in [key for key, (deadline, _) in self._watched.items() if deadline <= now]:
                    _, stop = self._watched.pop(key)
                    stop()
                self._looks_at = min((deadline for deadline, _ in self._watched.values()), default=math.inf)
                self._changed.wait(None if self._looks_at == math.inf else self._looks_at - now)


WATCHDOG = Watchdog()
