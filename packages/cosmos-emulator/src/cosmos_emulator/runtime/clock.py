"""The emulator's clock, which tests can freeze and advance."""

from __future__ import annotations

import math
import time
from datetime import datetime, timedelta
from typing import Final

_END_S: Final = 253_402_300_800  # the year 10000, which HTTP dates cannot express


class AdjustableClock:
    """Returns seconds since the epoch: the system's time until a test changes it. Any thread can use it."""

    def __init__(self) -> None:
        self._offset_s = 0.0
        self._frozen_s: float | None = None

    def __call__(self) -> float:
        """Return the current time."""
        frozen_s = self._frozen_s
        return time.time() + self._offset_s if frozen_s is None else frozen_s

    @property
    def is_frozen(self) -> bool:
        """Return whether the time stands still."""
        return self._frozen_s is not None

    def freeze(self, at: float | datetime | None = None) -> None:
        """Stop the time, now or at another time, in seconds since the epoch or with a time zone.

        Raises ValueError for a time outside of 1970 to 9999.
        """
        if isinstance(at, datetime):
            if at.tzinfo is None:
                raise ValueError(f"{at!r} needs a time zone, such as datetime.UTC")
            at = at.timestamp()
        self._frozen_s = _checked(self() if at is None else at)

    def advance(self, by: float | timedelta) -> None:
        """Move the time forward, by seconds or a timedelta, whether it is frozen or not.

        Raises ValueError for a negative duration.
        """
        seconds = by.total_seconds() if isinstance(by, timedelta) else by
        if not seconds >= 0:
            raise ValueError(f"the clock cannot advance by {seconds} s")
        now_s = _checked(self() + seconds)
        if self.is_frozen:
            self._frozen_s = now_s
        else:
            self._offset_s += seconds

    def resume(self) -> None:
        """Let the time run again, from where it was frozen."""
        if self._frozen_s is not None:
            self._offset_s = self._frozen_s - time.time()
            self._frozen_s = None

    def reset(self) -> None:
        """Return to the system's time."""
        self._offset_s, self._frozen_s = 0.0, None


def _checked(now_s: float) -> float:
    if not (math.isfinite(now_s) and 0 <= now_s < _END_S):
        raise ValueError(f"{now_s} is not a time from 1970 to 9999, in seconds since the epoch")
    return now_s
