"""Limits of a script execution."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from cosmos_emulator.json_text import JsonObject

_SAME_S: Final = 0.001
ACCEPTING_SHARE: Final = 0.9
"""The share of the time limit after which the collection stops accepting operations."""


@dataclass(frozen=True, slots=True)
class ScriptLimits:
    """The service's limits for server-side JavaScript (concepts-limits: 5 s, response 2 MB).

    The time limit covers the whole execution. QuickJS interrupts a script by CPU time; by wall clock, its process is
    killed `engine.KILL_AFTER_S` after the limit. After `accepted_operations` (None: no limit), the collection returns
    false; the service does so only if time is nearly up. `log_characters` limits the log, which is a header; the
    service's limit is not published. `hides_newer` hides built-ins after ES2017 (edition.py).
    """

    time_limit_s: float = 5.0
    memory_bytes: int = 64 * 1024 * 1024
    accepted_operations: int | None = None
    response_bytes: int = 2 * 1024 * 1024
    log_characters: int = 4096
    clock: Callable[[], float] = time.time
    hides_newer: bool = False

    def script_clock(self) -> JsonObject | None:
        """Return how runtime/clock.js sets `Date`; None for the system's time.

        A clock that is frozen, or not the emulator's own, stands still during a script.
        """
        is_frozen = self.clock is not time.time and bool(getattr(self.clock, "is_frozen", True))
        now_s = self.clock()
        if not is_frozen and abs(now_s - time.time()) < _SAME_S:
            return None
        return {"startMs": math.floor(now_s * 1000), "isFrozen": is_frozen}
