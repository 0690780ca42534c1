"""The request queue of host.json.

Rules: azure-functions-host HttpThrottleMiddleware.cs.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager


class QueueFullError(Exception):
    """Too many requests are running or waiting."""


class RequestThrottle:
    """Limits the running requests, and the total of running and waiting requests. -1 means no limit."""

    def __init__(self, max_outstanding: int, max_concurrent: int) -> None:
        self._max_outstanding = max_outstanding
        self._outstanding = 0
        self._slots = asyncio.Semaphore(max_concurrent) if max_concurrent > 0 else None

    @asynccontextmanager
    async def slot(self) -> AsyncIterator[None]:
        """Wait for a free slot. Raises QueueFullError if the queue is full."""
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
