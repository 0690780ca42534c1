"""Sizes of the measurements: full, or quick for development."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Sizes:
    """`small` and `large` are the items in the compared containers.

    `busy` is the size of one logical partition of the large container, `scanned` the items that an unindexed filter
    reads, `repetitions` the samples of a fast request, `runs` those of a slow one.
    """

    small: int = 1_000
    large: int = 1_000_000
    busy: int = 100_000
    scanned: int = 100_000
    repetitions: int = 500
    runs: int = 7


FULL = Sizes()
QUICK = Sizes(large=20_000, busy=5_000, scanned=5_000, repetitions=100, runs=3)
