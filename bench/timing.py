"""Compare the times of actions in turn, so that other load affects all alike."""

from __future__ import annotations

import asyncio
import random
import statistics
import time
from collections.abc import AsyncIterable, Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Final

# Slow actions are repeated less often.
_BUDGET_S: Final = 60.0
_LEAST: Final = 3
_LOOK_S: Final = 0.05

Action = Callable[[int], Awaitable[object]]


class BenchmarkError(Exception):
    """A measured operation failed."""


@dataclass(frozen=True)
class Times:
    seconds: tuple[float, ...]

    @property
    def rounds(self) -> int:
        return len(self.seconds)

    @property
    def p50_ms(self) -> float:
        return statistics.median(self.seconds) * 1000

    @property
    def p95_ms(self) -> float:
        return sorted(self.seconds)[int(len(self.seconds) * 0.95)] * 1000

    @property
    def p99_ms(self) -> float:
        return sorted(self.seconds)[int(len(self.seconds) * 0.99)] * 1000


async def in_turn(
    actions: Mapping[str, Action], repetitions: int, *, warm_up: int, block: int = 10, pause_s: float = 0
) -> dict[str, Times]:
    """Return the times by action. Actions receive the repetition number, including the warm-up.

    Each round runs every action `block` times, pausing before each, in random order. If the time budget is exceeded,
    fewer rounds run, and the warm-up can count.
    """
    names = list(actions)
    shuffled = random.Random(1)  # noqa: S311 - the same orders in every run
    seconds: dict[str, list[float]] = {name: [] for name in names}
    begun = time.perf_counter()
    done = 0
    while done < warm_up + repetitions and (done < _LEAST or time.perf_counter() - begun < _BUDGET_S):
        for name in shuffled.sample(names, len(names)):
            for number in range(done, done + block):
                await asyncio.sleep(pause_s)
                seconds[name].append(await _seconds(actions[name], number))
        done += block
    first = warm_up if done > warm_up else 0
    return {name: Times(tuple(passed[first:])) for name, passed in seconds.items()}


async def _seconds(action: Action, number: int) -> float:
    started = time.perf_counter()
    await action(number)
    return time.perf_counter() - started


async def until(condition: Callable[[], Awaitable[bool]], seconds: float) -> None:
    """Wait for a condition of other processes. Raises TimeoutError."""
    async with asyncio.timeout(seconds):
        while not await condition():  # noqa: ASYNC110 - the condition is in another process, which sets no event
            await asyncio.sleep(_LOOK_S)


async def exhaust(rows: AsyncIterable[object], expected: int) -> None:
    """Read all rows. Raises BenchmarkError unless there are `expected`."""
    count = 0
    async for _ in rows:
        count += 1
    if count != expected:
        raise BenchmarkError(f"a query returned {count} rows instead of {expected}")
