"""Times of things that are to be compared: made in turn, so that whatever else the machine does hits all alike."""

from __future__ import annotations

import statistics
import time
from collections.abc import AsyncIterable, Awaitable, Callable, Mapping
from dataclasses import dataclass

Action = Callable[[int], Awaitable[object]]


class BenchmarkError(Exception):
    """Something that is measured did not work; the message says what."""


@dataclass(frozen=True)
class Times:
    """Seconds of each repetition."""

    seconds: tuple[float, ...]

    @property
    def p50_ms(self) -> float:
        return statistics.median(self.seconds) * 1000

    @property
    def p95_ms(self) -> float:
        return sorted(self.seconds)[int(len(self.seconds) * 0.95)] * 1000


async def in_turn(actions: Mapping[str, Action], repetitions: int, *, warm_up: int) -> dict[str, Times]:
    """The times of each action, by name. An action gets the number of its repetition, warming up included.

    Every round runs each action once, starting with another one than the round before.
    """
    names = list(actions)
    seconds: dict[str, list[float]] = {name: [] for name in names}
    for number in range(warm_up + repetitions):
        first = number % len(names)
        for name in names[first:] + names[:first]:
            started = time.perf_counter()
            await actions[name](number)
            passed = time.perf_counter() - started
            if number >= warm_up:
                seconds[name].append(passed)
    return {name: Times(tuple(passed)) for name, passed in seconds.items()}


async def exhaust(rows: AsyncIterable[object], expected: int) -> None:
    """Read all rows. Raises BenchmarkError for another number of them: a wrong answer has no time."""
    count = 0
    async for _ in rows:
        count += 1
    if count != expected:
        raise BenchmarkError(f"a query found {count} rows instead of {expected}")
