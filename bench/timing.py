"""Times of things that are to be compared: made in turn, so that whatever else the machine does hits all alike."""

from __future__ import annotations

import random
import statistics
import time
from collections.abc import AsyncIterable, Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Final

# What takes longer than this in all is repeated less often: it is far from its target anyway.
_BUDGET_S: Final = 60.0
_LEAST: Final = 3

Action = Callable[[int], Awaitable[object]]


class BenchmarkError(Exception):
    """Something that is measured did not work; the message says what."""


@dataclass(frozen=True)
class Times:
    """Seconds of each repetition."""

    seconds: tuple[float, ...]

    @property
    def rounds(self) -> int:
        """How often it was done."""
        return len(self.seconds)

    @property
    def p50_ms(self) -> float:
        return statistics.median(self.seconds) * 1000

    @property
    def p95_ms(self) -> float:
        return sorted(self.seconds)[int(len(self.seconds) * 0.95)] * 1000


async def in_turn(actions: Mapping[str, Action], repetitions: int, *, warm_up: int) -> dict[str, Times]:
    """The times of each action, by name. An action gets the number of its round, those of warming up included.

    Every round runs each action once, in an order of its own: one that always came after the same other would pay for
    what that leaves behind. Where the rounds take too long
    there are fewer, and of few the first counts, too.
    """
    names = list(actions)
    shuffled = random.Random(1)  # noqa: S311 - the same orders in every run
    rounds: list[dict[str, float]] = []
    begun = time.perf_counter()
    while len(rounds) < warm_up + repetitions and (len(rounds) < _LEAST or time.perf_counter() - begun < _BUDGET_S):
        order = shuffled.sample(names, len(names))
        rounds.append({name: await _seconds(actions[name], len(rounds)) for name in order})
    counted = rounds[warm_up:] or rounds
    return {name: Times(tuple(seconds[name] for seconds in counted)) for name in names}


async def _seconds(action: Action, number: int) -> float:
    started = time.perf_counter()
    await action(number)
    return time.perf_counter() - started


async def exhaust(rows: AsyncIterable[object], expected: int) -> None:
    """Read all rows. Raises BenchmarkError for another number of them: a wrong answer has no time."""
    count = 0
    async for _ in rows:
        count += 1
    if count != expected:
        raise BenchmarkError(f"a query found {count} rows instead of {expected}")
