"""Engines made ahead: to evaluate the runtime takes longer than most scripts, and an unused engine knows no script."""

from __future__ import annotations

from collections import deque
from typing import Final

from local.cosmos.scripts.engine import JavaScriptEngine
from local.cosmos.scripts.sources import transactional_runtime

_SPARE: Final = 2


class EnginePool:
    """Engines for procedures and triggers, each used once. Any thread may take one that another has made."""

    def __init__(self) -> None:
        self._ready: deque[tuple[int, JavaScriptEngine]] = deque(maxlen=_SPARE)
        self._memory_bytes: int | None = None

    def take(self, memory_bytes: int) -> JavaScriptEngine:
        """An unused engine with this memory limit, made now if there is none."""
        self._memory_bytes = memory_bytes
        try:
            prepared_for, engine = self._ready.popleft()
        except IndexError:
            return JavaScriptEngine(transactional_runtime(), memory_bytes)
        return engine if prepared_for == memory_bytes else JavaScriptEngine(transactional_runtime(), memory_bytes)

    def prepare(self) -> None:
        """Makes the engines that will be taken next, once any was taken; for a thread that has nothing better to do."""
        memory_bytes = self._memory_bytes
        while memory_bytes is not None and len(self._ready) < _SPARE:
            self._ready.append((memory_bytes, JavaScriptEngine(transactional_runtime(), memory_bytes)))


ENGINES: Final = EnginePool()
