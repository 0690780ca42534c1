"""One hot post, simulated: likes arrive evenly, `processes` group them into batches as shared/transactions/
batches.py does, and a partition refuses what comes after it has spent its second.

Deterministic: no chance, no clock. A batch takes `commit_s`; while it is under way the likes that come to the same
process wait, and go together in the next one, up to `most_together`. A refused batch comes again when the second is
over, as the database advises. With `shards`, a like's item and a counter of its own go to one of so many logical
partitions, in turn, each on a physical partition of its own; the process has a queue for each.
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
    """`likes_per_s` are offered; `batch_ru` is charged once for each batch, `like_ru` for each like in it;
    `partition_ru` is what one physical partition may spend in a second."""

    likes_per_s: int
    processes: int
    batch_ru: float
    like_ru: float
    commit_s: float = 0.01
    shards: int = 1
    most_together: int = 30
    partition_ru: float = 10_000.0

    @property
    def most_per_s(self) -> float:
        """What the partitions can take with full batches."""
        return self.shards * self.partition_ru / (self.like_ru + self.batch_ru / self.most_together)


@dataclass(frozen=True)
class Outcome:
    """Over `DURATION_S`: likes written a second, the mean batch, refusals a second, and the longest wait of a like
    that was written. `waiting` are those that came and were not written by the end."""

    written_per_s: float
    likes_per_batch: float
    refused_per_s: float
    longest_wait_s: float
    waiting: int


@dataclass
class _Queue:
    """What waits in one process for one shard: the moments of arrival."""

    shard: int
    waiting: deque[float] = field(default_factory=deque)
    under_way: list[float] = field(default_factory=list)


@dataclass
class _Run:
    case: HotPost
    spent: dict[tuple[int, int], float] = field(default_factory=dict)
    events: list[tuple[float, int, _Queue]] = field(default_factory=list)
    order: count[int] = field(default_factory=count)
    written: int = 0
    batches: int = 0
    refused: int = 0
    longest_wait_s: float = 0.0

    def begin(self, now: float, queue: _Queue) -> None:
        """Send what waits, or what was refused before."""
        if not queue.under_way:
            size = min(len(queue.waiting), self.case.most_together)
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


def simulate(case: HotPost) -> Outcome:
    """`DURATION_S` seconds of it."""
    run = _Run(case)
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
    return Outcome(
        written_per_s=run.written / DURATION_S,
        likes_per_batch=run.written / max(1, run.batches),
        refused_per_s=run.refused / DURATION_S,
        longest_wait_s=run.longest_wait_s,
        waiting=likes - run.written,
    )


def _until(run: _Run, busy: set[int], moment: float) -> None:
    """What happens up to this moment: batches end, refused ones come again."""
    while run.events and run.events[0][0] <= moment:
        now, _, queue = heapq.heappop(run.events)
        if queue.waiting or queue.under_way:
            run.begin(now, queue)
        else:
            busy.discard(id(queue))


def likes_before_refusal(case: HotPost) -> int:
    """A rate at which nothing is refused, while at one percent of `most_per_s` more something is."""
    free, refused = 0, ceil(case.most_per_s * 1.05)
    while refused - free > max(1, case.most_per_s / 100):
        rate = (free + refused) // 2
        if simulate(replace(case, likes_per_s=rate)).refused_per_s > 0:
            refused = rate
        else:
            free = rate
    return free
