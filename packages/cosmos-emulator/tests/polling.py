"""Wait for a condition, with a deadline."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable


async def eventually(condition: Callable[[], bool], deadline_s: float = 60.0) -> None:
    """Wait until the condition is true. Raises AssertionError at the deadline."""
    end = time.monotonic() + deadline_s
    while time.monotonic() < end:
        if condition():
            return
        await asyncio.sleep(0.01)
    raise AssertionError(f"the condition was not met within {deadline_s} s")
