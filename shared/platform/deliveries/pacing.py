"""The pace of long work, such as renames: a rate that grows until the database throttles, so readers keep throughput.

A delivery does a part of such work. The change comes back for the rest, so that the changes of others are handled
meanwhile: a change feed handles nothing else of its physical partition until a delivery ends.

Azure's own means, a low priority or a throughput bucket for such requests, support neither serverless accounts nor
databases with shared throughput (https://learn.microsoft.com/azure/cosmos-db/priority-based-execution,
https://learn.microsoft.com/azure/cosmos-db/throughput-buckets).

The rate grows and shrinks by factors (multiplicative increase, multiplicative decrease), because nothing else tells a
client how much of the provisioned throughput is left. D. Chiu and R. Jain compare such controls: "Analysis of the
Increase and Decrease Algorithms for Congestion Avoidance in Computer Networks" (1989).
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

from shared.platform.database.scope import Scope, nested_scope

TRANSACTIONS_AT_ONCE: Final = 8

# Seconds between transactions, for each of their request units: at first 550 RU/s, later at least 110 RU/s.
FIRST_S: Final = 1 / 550
_LONGEST_S: Final = 1 / 110
# What an item costs until the response says it. Renaming one costs about as much, and erasing one 8 to 81 RU.
_RU_PER_ITEM: Final = 11
# How long a delivery does such work before it lets other changes pass.
TURN_S: Final = 1.0
# A pace is kept for the next delivery, unless it is older. Meanwhile, readers can have taken what was left.
_KEPT_S: Final = 10.0
# The factor by which the interval shrinks in a second: before the first 429, and after it.
_UNTIL_429: Final = 0.5
_AFTER_429: Final = 0.8


class TurnOver(Exception):
    """The delivery has done its part of the work, and the rest must come back as a later change."""


class Pace:
    """Limits the transactions of one delivery of changes: a few at once, started at intervals, for a limited time.

    Only a 429 shows how much throughput the database has left. The transactions therefore start slowly and become
    faster, and more slowly so after the first 429. Each 429 doubles the interval. While the database throttles a
    transaction, no other starts.
    """

    def __init__(
        self, *, turn_s: float | None = None, last: Pace | None = None, ru_per_item: float = _RU_PER_ITEM
    ) -> None:
        """With `turn_s`, raise TurnOver that long after the first transaction. Continue at the pace of `last`."""
        self._turn_s = turn_s
        self._ru_per_item = ru_per_item
        self._over_s: float | None = None
        self._idle = asyncio.Event()
        self._slots = asyncio.Semaphore(TRANSACTIONS_AT_ONCE)
        self._starting = asyncio.Lock()
        self._running: set[Scope] = set()
        self._next_s = 0.0
        self._interval_s = FIRST_S
        self._factor_per_s = _UNTIL_429
        self._slowed_s = 0.0
        self._used_s = 0.0
        # Whether a transaction of this turn has written anything.
        self.has_advanced = False
        if last is not None and time.monotonic() - last._used_s < _KEPT_S:
            self._interval_s, self._factor_per_s = last._interval_s, last._factor_per_s
            self._next_s, self._used_s = last._next_s, last._used_s

    @asynccontextmanager
    async def transaction(self, items: int, *, is_repetition: bool = False) -> AsyncIterator[None]:
        """Wait until the next transaction may start. The block sends it, and it writes about `items` items.

        The next interval rests on an estimated charge until the charge is known. Raises TurnOver once the
        transactions that are running have ended. A repetition after a refusal belongs to the same turn, so that
        NoProgress is found.
        """
        estimate_ru = items * self._ru_per_item
        async with self._slots:
            async with self._starting:
                if not is_repetition:
                    await self._require_turn()
                while (wait_s := self._wait_s()) > 0:  # noqa: ASYNC110 - a 429 can prolong it
                    await asyncio.sleep(wait_s)
                started_s = time.monotonic()
                if self._turn_s is not None and self._over_s is None:
                    self._over_s = started_s + self._turn_s
                self._next_s = started_s + estimate_ru * self._interval_s
                self._interval_s *= self._factor_per_s ** (estimate_ru * self._interval_s)
            try:
                with nested_scope() as scope:
                    self._running.add(scope)
                    self._idle.clear()
                    yield
            finally:
                self._running.remove(scope)
                self._used_s = time.monotonic()
                if not self._running:
                    self._idle.set()
                self._next_s += (scope.request_units - estimate_ru) * self._interval_s
                # Transactions that ran at the same time met the same 429.
                if scope.throttled and started_s >= self._slowed_s:
                    self._slow_down(estimate_ru)

    async def _require_turn(self) -> None:
        if self._over_s is not None and time.monotonic() + self._wait_s() >= self._over_s:
            self._over_s = 0.0  # also for those that wait, even if the wait gets shorter
            if self._running:
                await self._idle.wait()
            raise TurnOver

    def _wait_s(self) -> float:
        # The SDK waits for the same time before it sends a throttled transaction again.
        throttled_s = (scope.retry_after_s or 0.0 for scope in self._running)
        return max(self._next_s - time.monotonic(), *throttled_s, 0.0)

    def _slow_down(self, estimate_ru: float) -> None:
        self._slowed_s = time.monotonic()
        self._interval_s = min(max(FIRST_S, 2 * self._interval_s), _LONGEST_S)
        self._factor_per_s = _AFTER_429
        self._next_s = self._slowed_s + estimate_ru * self._interval_s
