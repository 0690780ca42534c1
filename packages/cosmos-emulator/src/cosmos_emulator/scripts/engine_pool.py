"""The script processes, shared by all emulators of a Python process."""

from __future__ import annotations

import atexit
import os
import threading
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from cosmos_emulator.scripts.engine import EngineProcess
from cosmos_emulator.scripts.failures import ScriptEngineLostError

_SPARE: Final = 2  # one runs while the next prepares
_KEPT: Final = 4  # idle processes beyond these are ended


class EnginePool:
    """Lends engines to threads, each for one script at a time. Starts with the first script.

    The pool is unbounded: a script can need a second engine if its query calls a user-defined function. Its size
    follows the number of threads that run scripts. All engines exit with this process, even if it is killed.
    """

    def __init__(self) -> None:
        self._idle: deque[EngineProcess] = deque()  # first in, first out: the longest idle is most likely ready
        self._all: set[EngineProcess] = set()
        self._lock = threading.Lock()
        self._starting = threading.Lock()
        self._owner: int | None = None

    @property
    def lacks_spare(self) -> bool:
        """Return whether `start_spares` would start a process."""
        return self._owner is not None and len(self._idle) < _SPARE

    @contextmanager
    def lent(self, memory_bytes: int) -> Iterator[EngineProcess]:
        """Lend a fresh engine with this memory limit; start a process only if none is idle.

        Raises `ScriptEngineLostError` if it does not start.
        """
        engine = self._taken(memory_bytes)
        try:
            yield engine
        finally:
            self._give_back(engine)

    def start_spares(self) -> None:
        """Start spare processes, in a few milliseconds."""
        if self._starting.acquire(blocking=False):
            try:
                while self.lacks_spare:
                    self._idle.append(self._start())
            finally:
                self._starting.release()

    def close(self) -> None:
        """End every process, but not in a forked child."""
        if self._owner != os.getpid():
            return
        with self._lock:
            engines, self._owner = list(self._all), None
            self._all.clear()
            self._idle.clear()
        for engine in engines:
            engine.end()

    def _taken(self, memory_bytes: int) -> EngineProcess:
        while True:
            try:
                engine = self._idle.popleft()
            except IndexError:
                break
            if engine.ready(memory_bytes):
                return engine
            self._end(engine)
        engine = self._start()
        if not engine.ready(memory_bytes):
            self._end(engine)
            raise ScriptEngineLostError(None)
        return engine

    def _start(self) -> EngineProcess:
        with self._lock:
            if self._owner is None:
                self._owner = os.getpid()
                atexit.register(self.close)
        engine = EngineProcess()
        with self._lock:
            self._all.add(engine)
        return engine

    def _give_back(self, engine: EngineProcess) -> None:
        if engine.is_sound:
            engine.drop()
        if engine.is_sound and len(self._idle) < _KEPT:
            self._idle.append(engine)
        else:
            self._end(engine)

    def _end(self, engine: EngineProcess) -> None:
        engine.end()
        with self._lock:
            self._all.discard(engine)


ENGINES: Final = EnginePool()
