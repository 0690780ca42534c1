"""Batches concurrent calls without timers: whatever arrives during a batch goes into the next one."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Coroutine, Hashable, Sequence
from typing import Any, Generic, TypeVar

Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")
Result = TypeVar("Result")
# A submitted value, and the future that its submitter awaits.
_Submission = tuple[Value, asyncio.Future[Result]]


class Batcher(Generic[Key, Value, Result]):
    """Runs one batch per key at a time; use it within one event loop.

    `run` gets a key and up to `limit` values, and returns an outcome for each in the same order: a result, or an
    exception to raise. If it raises instead, each value runs in a batch of its own, so that an error reaches only the
    submitter who caused it. Errors in `shared_errors` reach everyone in the batch.

    Values with the same `identity` never share a batch. A batch delays the next one by at most `overlap_after_s`.
    """

    def __init__(
        self,
        run: Callable[[Key, Sequence[Value]], Awaitable[Sequence[Result | Exception]]],
        *,
        limit: int,
        identity: Callable[[Value], Hashable] | None = None,
        shared_errors: tuple[type[Exception], ...] = (),
        overlap_after_s: float | None = None,
    ) -> None:
        self._run = run
        self._limit = limit
        self._identity = identity
        self._shared_errors = shared_errors
        self._overlap_after_s = overlap_after_s
        self._queues: dict[Key, deque[_Submission[Value, Result]]] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    async def submit(self, key: Key, value: Value) -> Result:
        """Return the outcome of `value` in a batch that starts after this call.

        Cancelling this call does not cancel the batch.
        """
        future: asyncio.Future[Result] = asyncio.get_running_loop().create_future()
        if key in self._queues:
            self._queues[key].append((value, future))
        else:
            self._queues[key] = deque([(value, future)])
            self._start(self._serve(key))
        return await future

    def cancel(self) -> None:
        """Cancel all batches. Call it once nobody awaits their outcomes."""
        for task in self._tasks:
            task.cancel()

    def _start(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = asyncio.create_task(work)
        self._tasks.add(task)  # the event loop holds only a weak reference
        task.add_done_callback(self._tasks.discard)
        return task

    async def _serve(self, key: Key) -> None:
        queue = self._queues[key]
        try:
            while batch := self._take(queue):
                await asyncio.wait([self._start(self._run_batch(key, batch))], timeout=self._overlap_after_s)
        finally:
            del self._queues[key]

    def _take(self, queue: deque[_Submission[Value, Result]]) -> list[_Submission[Value, Result]]:
        batch: dict[Hashable, _Submission[Value, Result]] = {}
        postponed: list[_Submission[Value, Result]] = []
        while queue and len(batch) < self._limit:
            value, future = submission = queue.popleft()
            identity = self._identity(value) if self._identity else len(batch)
            if future.cancelled():
                continue
            if identity in batch:
                postponed.append(submission)
            else:
                batch[identity] = submission
        queue.extendleft(reversed(postponed))
        return list(batch.values())

    async def _run_batch(self, key: Key, batch: Sequence[_Submission[Value, Result]]) -> None:
        outcomes: Sequence[Result | Exception]
        try:
            outcomes = await self._run(key, [value for value, _ in batch])
        except Exception as error:  # noqa: BLE001 - every error goes to the submitters
            if len(batch) > 1 and not isinstance(error, self._shared_errors):
                for submission in batch:
                    await self._run_batch(key, [submission])
                return
            outcomes = [error] * len(batch)
        for (_, future), outcome in zip(batch, outcomes, strict=True):
            if future.done():  # cancelled
                continue
            if isinstance(outcome, Exception):
                future.set_exception(outcome)
            else:
                future.set_result(outcome)
