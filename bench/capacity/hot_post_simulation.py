"""Simulate one hot post: processes group likes into batches, and partitions refuse what exceeds their throughput.

Deterministic. Likes arrive evenly. A batch takes `commit_s`; likes that arrive meanwhile wait for the next, of up to
`max_batch` (shared/transactions/batches.py). A refused batch is retried in the next second. Likes are spread over
`shards` logical partitions, each on its own physical partition; each process has one queue per shard.
"""

from __future__ import annotations

import heapq
from collections import deque
from dataclasses import dataclass, field, replace
from itertools import count
from math import ceil

DURATION_S = 8


@dataclass(frozen=True)
class HotPost:
    """`likes_per_s` arrive; each batch costs `batch_ru` plus `like_ru` per like.

    `partition_ru` is one physical partition's throughput.
    """

    likes_per_s: int
    processes: int
    batch_ru: float
    like_ru: float
    commit_s: float = 0.01
    shards: int = 1
    max_batch: int = 30
    partition_ru: float = 10_000.0

    @property
    def most_per_s(self) -> float:
        """Likes per second accepted in full batches."""
        return self.shards * self.partition_ru / (self.like_ru + self.batch_ru / self.max_batch)


@dataclass(frozen=True)
class SimulationResult:
    """Rates, mean batch size, longest wait, and likes not written, over `DURATION_S`."""

    written_per_s: float
    likes_per_batch: float
    refused_per_s: float
    longest_wait_s: float
    waiting: int


@dataclass
class _Queue:
    """Arrival times of likes that wait in one process for one shard."""

    shard: int
    waiting: deque[float] = field(default_factory=deque)
    under_way: list[float] = field(default_factory=list)


@dataclass
class _Simulation:
    case: HotPost
    spent: dict[tuple[int, int], float] = field(default_factory=dict)
    events: list[tuple[float, int, _Queue]] = field(default_factory=list)
    order: count[int] = field(default_factory=count)
    written: int = 0
    batches: int = 0
    refused: int = 0
    longest_wait_s: float = 0.0

    def begin(self, now: float, queue: _Queue) -> None:
        """Send the refused batch, or the next."""
        if not queue.under_way:
            size = min(len(queue.waiting), self.case.max_batch)
            queue.under_way = [queue.waiting.popleft() for _ in range(size)]
        if not queue.under_way:
            return
        second = (int(now), queue.shard)
        if self.spent.get(second, 0.0) >= self.case.partition_ru:
            self.refused += 1
            self._at(int(now) + 1.0, queue)
            return
        charge = self.case.batch_ru + self.case.like_ru * len(queue.under_way)
        self.spent[second] = self.spent.get(second, 0.0) + charge
        done = now + self.case.commit_s
        self.written += len(queue.under_way)
        self.batches += 1
        self.longest_wait_s = max(self.longest_wait_s, done - queue.under_way[0])
        queue.under_way = []
        self._at(done, queue)

    def _at(self, moment: float, queue: _Queue) -> None:
        heapq.heappush(self.events, (moment, next(self.order), queue))


def simulate(case: HotPost) -> SimulationResult:
    run = _Simulation(case)
    queues = [[_Queue(shard) for shard in range(case.shards)] for _ in range(case.processes)]
    busy: set[int] = set()
    likes = case.likes_per_s * DURATION_S
    for number in range(likes):
        arrival = number / case.likes_per_s
        _until(run, busy, arrival)
        queue = queues[number // case.shards % case.processes][number % case.shards]
        queue.waiting.append(arrival)
        if id(queue) not in busy:
            busy.add(id(queue))
            run.begin(arrival, queue)
    _until(run, busy, float(DURATION_S))
    return SimulationResult(
        written_per_s=run.written / DURATION_S,
        likes_per_batch=run.written / max(1, run.batches),
        refused_per_s=run.refused / DURATION_S,
        longest_wait_s=run.longest_wait_s,
        waiting=likes - run.written,
    )


def _until(run: _Simulation, busy: set[int], moment: float) -> None:
    while run.events and run.events[0][0] <= moment:
        now, _, queue = heapq.heappop(run.events)
        if queue.waiting or queue.under_way:
            run.begin(now, queue)
        else:
            busy.discard(id(queue))


def likes_before_refusal(case: HotPost) -> int:
    """Return the highest rate without refusals, within one percent."""
    free, refused = 0, ceil(case.most_per_s * 1.05)
    while refused - free > max(1, case.most_per_s / 100):
        rate = (free + refused) // 2
        if simulate(replace(case, likes_per_s=rate)).refused_per_s > 0:
            refused = rate
        else:
            free = rate
    return free
