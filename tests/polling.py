"""Wait for a condition, with a deadline."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import Any


async def eventually(condition: Callable[[], Any], deadline_s: float = 60.0, interval_s: float = 0.02) -> Any:
    """Poll until `condition` (synchronous or asynchronous) returns something true, and return that.

    Raises AssertionError after `deadline_s` seconds.
    """
    end = time.monotonic() + deadline_s
    while time.monotonic() < end:
        found = condition()
        if asyncio.iscoroutine(found):
            found = await found
        if found:
            return found
        await asyncio.sleep(interval_s)
    raise AssertionError(f"the condition was not met within {deadline_s} s")
