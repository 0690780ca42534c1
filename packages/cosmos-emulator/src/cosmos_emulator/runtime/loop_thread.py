"""An event loop in its own thread."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine
from typing import Any, Final, TypeVar

_TIMEOUT_S: Final = 60.0

T = TypeVar("T")


class LoopThread:
    """Runs coroutines for synchronous code and other event loops."""

    def __enter__(self) -> LoopThread:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="loop", daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine on the loop. Raises TimeoutError after a minute."""
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(_TIMEOUT_S)
