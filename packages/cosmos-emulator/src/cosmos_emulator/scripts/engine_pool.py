"""The processes that run scripts: started when the first script comes, shared by all emulators of a process."""

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

_SPARE: Final = 2  # one to run while the other prepares for its next script, or is being replaced
_KEPT: Final = 4  # more only while so many scripts run at once


class EnginePool:
    """Lends engines, each to one script at a time; any thread may ask for one.

    There is no upper bound, since a script may wait for another engine while it has one (its query calls a user-defined
    function): the threads that run scripts are what bounds them. The processes end with this one, however it ends.
    """

    def __init__(self) -> None:
        self._idle: deque[EngineProcess] = deque()  # the one that has had the longest time to prepare is taken first
        self._all: set[EngineProcess] = set()
        self._lock = threading.Lock()
        self._starting = threading.Lock()
        self._owner: int | None = None

    @property
    def lacks_spare(self) -> bool:
        """Whether `start_spares` has something to do; never before the first script."""
        return self._owner is not None and len(self._idle) < _SPARE

    @contextmanager
    def lent(self, memory_bytes: int) -> Iterator[EngineProcess]:
        """An engine that knows no script yet and may use so much memory. Takes time only when none is idle.

        `ScriptEngineLostError` when no process can be started.
        """
        engine = self._taken(memory_bytes)
        try:
            yield engine
        finally:
            self._give_back(engine)

    def start_spares(self) -> None:
        """Starts what the next scripts will need; takes some milliseconds, for a thread that has them."""
        if self._starting.acquire(blocking=False):
            try:
                while self.lacks_spare:
                    self._idle.append(self._start())
            finally:
                self._starting.release()

    def close(self) -> None:
        """Ends every process. A fork of the owner has the pool, too, and must leave it alone."""
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
