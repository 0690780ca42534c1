"""How much is measured: enough for the targets, or little for a look while developing."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Sizes:
    """`small` and `large` are the items of the containers whose times are compared, `busy` those of one logical
    partition of the large one; `scanned` the items that a filter without an index goes through; `repetitions` of a
    request whose p50 counts, `runs` of something slow."""

    small: int = 1_000
    large: int = 1_000_000
    busy: int = 100_000
    scanned: int = 100_000
    repetitions: int = 500
    runs: int = 7


FULL = Sizes()
QUICK = Sizes(large=20_000, busy=5_000, scanned=5_000, repetitions=100, runs=3)
