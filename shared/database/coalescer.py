"""Combines concurrent calls into groups, without timers: values that arrive during a group go into the next one."""

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


class Coalescer(Generic[Key, Value, Result]):
    """Runs one group per key at a time; use it within one event loop.

    `run` gets a key and up to `limit` values, and returns an outcome for each in the same order: a result, or an
    exception to raise. If it raises instead, each value runs in its own group, so that an error reaches only the
    submitter who caused it. Errors in `shared_errors` reach everyone in the group. A group delays the next one by at
    most `overlap_after_s`.
    """

    def __init__(
        self,
        run: Callable[[Key, Sequence[Value]], Awaitable[Sequence[Result | Exception]]],
        *,
        limit: int,
        shared_errors: tuple[type[Exception], ...] = (),
        overlap_after_s: float | None = None,
    ) -> None:
        self._run = run
        self._limit = limit
        self._shared_errors = shared_errors
        self._overlap_after_s = overlap_after_s
        self._queues: dict[Key, deque[_Submission[Value, Result]]] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    async def submit(self, key: Key, value: Value) -> Result:
        """Return the outcome of `value` in a group that starts after this call.

        Cancelling this call does not cancel the group.
        """
        future: asyncio.Future[Result] = asyncio.get_running_loop().create_future()
        if key in self._queues:
            self._queues[key].append((value, future))
        else:
            self._queues[key] = deque([(value, future)])
            self._start(self._serve(key))
        return await future

    def cancel(self) -> None:
        """Cancel all groups. Call it once nobody awaits their outcomes."""
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
            while group := self._take(queue):
                await asyncio.wait([self._start(self._run_group(key, group))], timeout=self._overlap_after_s)
        finally:
            del self._queues[key]

    def _take(self, queue: deque[_Submission[Value, Result]]) -> list[_Submission[Value, Result]]:
        group: list[_Submission[Value, Result]] = []
        while queue and len(group) < self._limit:
            submission = queue.popleft()
            if not submission[1].cancelled():
                group.append(submission)
        return group

    async def _run_group(self, key: Key, group: Sequence[_Submission[Value, Result]]) -> None:
        outcomes: Sequence[Result | Exception]
        try:
            outcomes = await self._run(key, [value for value, _ in group])
        except Exception as error:  # noqa: BLE001 - every error goes to the submitters
            if len(group) > 1 and not isinstance(error, self._shared_errors):
                for submission in group:
                    await self._run_group(key, [submission])
                return
            outcomes = [error] * len(group)
        for (_, future), outcome in zip(group, outcomes, strict=True):
            if future.done():  # cancelled
                continue
            if isinstance(outcome, Exception):
                future.set_exception(outcome)
            else:
                future.set_result(outcome)
