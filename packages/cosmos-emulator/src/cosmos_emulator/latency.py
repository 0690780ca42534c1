"""Simulated delays of a network and of replication."""

from __future__ import annotations

import re
from dataclasses import dataclass
from random import Random
from typing import Final

_PART: Final = r"(\d{1,9}(?:\.\d+)?)(ms|s|min|m|h)"
_FORM: Final = re.compile(rf"{_PART}(?:(?:±|\+-|\+/-){_PART})?")
_MS: Final = {"ms": 1, "s": 1000, "m": 60_000, "min": 60_000, "h": 3_600_000, "0": 0}


@dataclass(frozen=True, slots=True)
class Latency:
    """A delay, uniform from `mean_s - jitter_s` to `mean_s + jitter_s`."""

    mean_s: float
    jitter_s: float = 0.0

    @classmethod
    def parse(cls, text: str) -> Latency:
        """Parse `10ms`, `3s`, `5min` or `5m`, `1h`, `10ms±5ms` or `10ms+-5ms`. Raises ValueError otherwise."""
        match = _FORM.fullmatch(text.replace(" ", ""))
        if match is None:
            raise ValueError(f"{text!r} is not a duration; write 10ms, 3s, 5min, 1h or 10ms±5ms")
        mean, mean_unit, jitter, jitter_unit = match.groups(default="0")
        mean_s, jitter_s = float(mean) * _MS[mean_unit] / 1000, float(jitter) * _MS[jitter_unit] / 1000
        if jitter_s > mean_s:
            raise ValueError(f"{text!r} can be negative; the part after ± must not exceed the part before it")
        return cls(mean_s, jitter_s)

    def __str__(self) -> str:
        """Return text for `parse`."""
        return f"{self.mean_s * 1000:.12g}ms±{self.jitter_s * 1000:.12g}ms"

    def next_s(self, source: Random) -> float:
        """Return a random delay."""
        return source.uniform(self.mean_s - self.jitter_s, self.mean_s + self.jitter_s)
