"""Simulated delays of a network and of replication."""

from __future__ import annotations

import re
from dataclasses import dataclass
from random import Random
from typing import Final

_PART: Final = r"(\d{1,9}(?:\.\d+)?)(m?s)"
_FORM: Final = re.compile(rf"{_PART}(?:(?:±|\+-|\+/-){_PART})?")
_PER_SECOND: Final = {"s": 1, "ms": 1000, "0": 1}


@dataclass(frozen=True, slots=True)
class Latency:
    """A delay, uniform from `mean_s - jitter_s` to `mean_s + jitter_s`."""

    mean_s: float
    jitter_s: float = 0.0

    @classmethod
    def parse(cls, text: str) -> Latency:
        """Parse `10ms`, `3s`, `10ms±5ms` or `10ms+-5ms`. Raises ValueError otherwise."""
        match = _FORM.fullmatch(text.replace(" ", ""))
        if match is None:
            raise ValueError(f"{text!r} is not a duration; write 10ms, 3s or 10ms±5ms")
        mean, mean_unit, jitter, jitter_unit = match.groups(default="0")
        mean_s, jitter_s = float(mean) / _PER_SECOND[mean_unit], float(jitter) / _PER_SECOND[jitter_unit]
        if jitter_s > mean_s:
            raise ValueError(f"{text!r} can be negative; the part after ± must not exceed the part before it")
        return cls(mean_s, jitter_s)

    def __str__(self) -> str:
        """Return text for `parse`."""
        return f"{self.mean_s * 1000:g}ms±{self.jitter_s * 1000:g}ms"

    def next_s(self, source: Random) -> float:
        """Return a random delay."""
        return source.uniform(self.mean_s - self.jitter_s, self.mean_s + self.jitter_s)
