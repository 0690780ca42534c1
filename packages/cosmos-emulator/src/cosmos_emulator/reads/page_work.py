"""A page that takes longer than a request, such as a page of an aggregate.

The service ends such a page, and its continuation token resumes the query (learn.microsoft.com/azure/cosmos-db/
concepts-limits#per-request-limits). Here, the work rests in its thread between the requests.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable
from concurrent.futures import Future
from threading import Semaphore, Thread
from typing import Generic, TypeVar

from cosmos_emulator.runtime.pacing import OutOfTime

T = TypeVar("T")


class PageWork(Generic[T]):
    """Runs `work` in a thread. Its argument is a function that rests until the next request.

    That function's argument is about how much memory the work uses (`size_bytes`).
    """

    def __init__(self, work: Callable[[Callable[[int], None]], T]) -> None:
        self.id = ""
        self.size_bytes = 0
        self._result: Future[T] = Future()
        self._wanted, self._ended = Semaphore(0), Semaphore(0)
        self._is_dropped = False
        self._thread = Thread(target=self._run, args=(work,), name="cosmos-page", daemon=True)

    def go_on(self) -> T | None:
        """Start the work or let it go on; return its result, or None when it rests again, with another id."""
        self.id = secrets.token_hex(8)
        if self._thread.ident is None:
            self._thread.start()
        else:
            self._wanted.release()
        self._ended.acquire()
        return self._result.result() if self._result.done() else None

    def close(self) -> None:
        """End the work, which rests."""
        self._is_dropped = True
        self._wanted.release()

    def _run(self, work: Callable[[Callable[[int], None]], T]) -> None:
        try:
            self._result.set_result(work(self._rest))
        except Exception as error:  # noqa: BLE001 - `go_on` raises it
            self._result.set_exception(error)
        self._ended.release()

    def _rest(self, size_bytes: int) -> None:
        self.size_bytes = size_bytes
        self._ended.release()
        self._wanted.acquire()
        if self._is_dropped:
            raise OutOfTime
