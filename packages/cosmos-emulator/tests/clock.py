"""A clock that tests control."""

from __future__ import annotations

import time


class Clock:
    """Starts at the current whole second, and moves only on `advance`."""

    def __init__(self) -> None:
        self._now_s = float(int(time.time()))

    def __call__(self) -> float:
        return self._now_s

    def advance(self, seconds: float) -> None:
        self._now_s += seconds
