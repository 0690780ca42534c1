"""The request queue of host.json's `maxConcurrentRequests` and `maxOutstandingRequests`.

Rules: azure-functions-host HttpThrottleMiddleware.cs. Without either limit there is no queue.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager


class QueueFullError(Exception):
    """More requests are waiting and running than are allowed."""


class RequestThrottle:
    """`max_outstanding` bounds waiting and running requests together, `max_concurrent` running ones; -1 is no bound."""

    def __init__(self, max_outstanding: int, max_concurrent: int) -> None:
        self._max_outstanding = max_outstanding
        self._outstanding = 0
        self._slots = asyncio.Semaphore(max_concurrent) if max_concurrent > 0 else None

    @asynccontextmanager
    async def slot(self) -> AsyncIterator[None]:
        """Wait for a turn; QueueFullError when there is not even room to wait."""
        if 0 < self._max_outstanding <= self._outstanding:
            raise QueueFullError
        self._outstanding += 1
        try:
            if self._slots is None:
                yield
            else:
                async with self._slots:
                    yield
        finally:
            self._outstanding -= 1


def throttle_of(max_outstanding: int, max_concurrent: int) -> RequestThrottle | None:
    """The queue that the limits ask for, None without any."""
    if max_outstanding < 1 and max_concurrent < 1:
        return None
    return RequestThrottle(max_outstanding, max_concurrent)
