"""Retry the run's database operations while the database is down."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import TypeVar

from azure.core.exceptions import AzureError

from shared.platform.errors import DatabaseThrottled, DatabaseUnavailable

T = TypeVar("T")

_DEADLINE_S = 60.0
_PAUSE_S = 0.1


async def retry_until_available(operation: Callable[[], Awaitable[T]]) -> T:
    """Retry an idempotent operation for up to a minute, then raise its last error."""
    deadline = time.monotonic() + _DEADLINE_S
    while True:
        try:
            return await operation()
        except (AzureError, OSError, DatabaseThrottled, DatabaseUnavailable):
            if time.monotonic() > deadline:
                raise
        await asyncio.sleep(_PAUSE_S)
