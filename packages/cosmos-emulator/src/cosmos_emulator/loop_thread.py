"""An event loop beside the program's own."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine
from typing import Any, Final, TypeVar

_PATIENCE_S: Final = 60.0

T = TypeVar("T")


class LoopThread:
    """An event loop in a thread of its own, for the length of a `with` block: what runs there can be used from
    synchronous code and from any other loop."""

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
        """The result of `work`, waited for in the caller's thread. Raises TimeoutError after a minute."""
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(_PATIENCE_S)
