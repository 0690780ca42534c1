"""The pace of renames: a rate that grows until the database throttles, so that readers keep some throughput.

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

from shared.database.scope import Scope, nested_scope

TRANSACTIONS_AT_ONCE: Final = 8

# Seconds between transactions, for each of their items: at first 50 items a second, later at least 10.
FIRST_S: Final = 0.02
_LONGEST_S: Final = 0.1
# The factor by which the interval shrinks in a second: before the first 429, and after it.
_UNTIL_429: Final = 0.5
_AFTER_429: Final = 0.8


class Pace:
    """Limits the renaming transactions of one delivery of changes: a few at once, started at intervals.

    Only a 429 shows how much throughput the database has left. The transactions therefore start slowly and become
    faster until the first 429. Each 429 doubles the interval. While the database throttles a transaction, no other
    starts.
    """

    def __init__(self) -> None:
        self._slots = asyncio.Semaphore(TRANSACTIONS_AT_ONCE)
        self._turn = asyncio.Lock()
        self._running: set[Scope] = set()
        self._next_s = 0.0
        self._interval_s = FIRST_S
        self._left_after_a_second = _UNTIL_429
        self._slowed_s = 0.0

    @asynccontextmanager
    async def transaction(self, items: int) -> AsyncIterator[None]:
        """Wait until the next transaction may start. The block sends it, and it writes about `items` items."""
        async with self._slots:
            async with self._turn:
                while (wait_s := self._wait_s()) > 0:  # noqa: ASYNC110 - a 429 can prolong it
                    await asyncio.sleep(wait_s)
                started_s = time.monotonic()
                self._next_s = started_s + items * self._interval_s
                self._interval_s *= self._left_after_a_second ** (items * self._interval_s)
            try:
                with nested_scope() as scope:
                    self._running.add(scope)
                    yield
            finally:
                self._running.remove(scope)
                # Transactions that ran at the same time met the same 429.
                if scope.throttled and started_s >= self._slowed_s:
                    self._slow_down(items)

    def _wait_s(self) -> float:
        # The SDK waits for the same time before it sends a throttled transaction again.
        throttled_s = (scope.retry_after_s or 0.0 for scope in self._running)
        return max(self._next_s - time.monotonic(), *throttled_s, 0.0)

    def _slow_down(self, items: int) -> None:
        self._slowed_s = time.monotonic()
        self._interval_s = min(max(FIRST_S, 2 * self._interval_s), _LONGEST_S)
        self._left_after_a_second = _AFTER_429
        self._next_s = self._slowed_s + items * self._interval_s
