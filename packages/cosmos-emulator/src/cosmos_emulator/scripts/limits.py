"""What one execution of a script may use."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

ACCEPTING_SHARE: Final = 0.9
"""The share of the time limit after which collection operations are no longer accepted."""


@dataclass(frozen=True, slots=True)
class ScriptLimits:
    """The service's bounds for server-side JavaScript (concepts-limits: 5 s, response 2 MB).

    The time is that of the whole execution, operations included. QuickJS interrupts by the CPU time of the script's
    process; by the clock, the process is killed `engine.KILL_AFTER_S` after the limit.
    `accepted_operations` is the number of collection operations after which the collection refuses (returns false),
    which the service does only when the time is nearly up; None is no such number. `log_characters` bounds the
    text of `console.log`, which travels in a header; the service's number is not published.
    """

    time_limit_s: float = 5.0
    memory_bytes: int = 64 * 1024 * 1024
    accepted_operations: int | None = None
    response_bytes: int = 2 * 1024 * 1024
    log_characters: int = 4096
