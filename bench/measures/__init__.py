"""The measurements of bench.local_stack, in full sizes or quickly for development."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Sizes:
    """`large` are the items in each container, of which `busy` are in one logical partition.

    `repetitions` are the samples of a request, `runs` those of a start.
    """

    large: int = 1_000_000
    busy: int = 100_000
    repetitions: int = 500
    runs: int = 7


FULL = Sizes()
QUICK = Sizes(large=20_000, busy=5_000, repetitions=100, runs=3)
