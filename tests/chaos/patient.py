"""Operations of the run itself on a database that comes and goes."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import TypeVar

from azure.core.exceptions import AzureError

from shared.errors import DatabaseThrottled, DatabaseUnavailable

T = TypeVar("T")

_PATIENCE_S = 60.0
_PAUSE_S = 0.1


async def patiently(operation: Callable[[], Awaitable[T]]) -> T:
    """Repeat an operation that may be repeated until the database carries it out; the last error after a minute."""
    deadline = time.monotonic() + _PATIENCE_S
    while True:
        try:
            return await operation()
        except (AzureError, OSError, DatabaseThrottled, DatabaseUnavailable):
            if time.monotonic() > deadline:
                raise
        await asyncio.sleep(_PAUSE_S)
