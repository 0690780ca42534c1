"""What one step of background work may use (background.py)."""

from __future__ import annotations

import time
from typing import Final

_STEP_S: Final = 0.003
_STEP_BYTES: Final = 1 << 20


class Budget:
    """Some milliseconds and bytes. They always suffice for one item, which can have 2 MB."""

    def __init__(self) -> None:
        self._end = time.monotonic() + _STEP_S
        self._bytes = _STEP_BYTES

    def allows_more(self, used_bytes: int = 0) -> bool:
        """Count what an item used; return whether the step can handle another."""
        self._bytes -= used_bytes
        return self._bytes > 0 and time.monotonic() < self._end
