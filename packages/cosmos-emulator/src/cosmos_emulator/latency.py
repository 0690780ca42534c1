"""Simulated delays of a network and of replication."""

from __future__ import annotations

import re
from dataclasses import dataclass
from random import Random
from typing import Final

_FORM: Final = re.compile(r"(?P<mean>\d{1,9}(?:\.\d+)?)ms(?:(?:±|\+-|\+/-)(?P<jitter>\d{1,9}(?:\.\d+)?)ms)?")


@dataclass(frozen=True, slots=True)
class Latency:
    """A delay, uniform from `mean_s - jitter_s` to `mean_s + jitter_s`."""

    mean_s: float
    jitter_s: float = 0.0

    @classmethod
    def parse(cls, text: str) -> Latency:
        """Parse `10ms`, `10ms±5ms` or `10ms+-5ms`. Raises ValueError otherwise."""
        match = _FORM.fullmatch(text.replace(" ", ""))
        if match is None:
            raise ValueError(f"{text!r} is not a duration; write 10ms or 10ms±5ms")
        mean_ms, jitter_ms = float(match["mean"]), float(match["jitter"] or 0)
        if jitter_ms > mean_ms:
            raise ValueError(f"{text!r} can be negative; the part after ± must not exceed the part before it")
        return cls(mean_ms / 1000, jitter_ms / 1000)

    def __str__(self) -> str:
        """Return text for `parse`."""
        return f"{self.mean_s * 1000:g}ms±{self.jitter_s * 1000:g}ms"

    def next_s(self, source: Random) -> float:
        """Return a random delay."""
        return source.uniform(self.mean_s - self.jitter_s, self.mean_s + self.jitter_s)
