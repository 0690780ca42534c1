"""Time that a test moves."""

from __future__ import annotations

import time


class Clock:
    """Stands still at the time of its making until it is moved."""

    def __init__(self) -> None:
        self._now_s = float(int(time.time()))

    def __call__(self) -> float:
        return self._now_s

    def advance(self, seconds: float) -> None:
        self._now_s += seconds
