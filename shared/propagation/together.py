"""Calls that come while another is under way, made together in the next one: for what costs the database, and takes
time, per call rather than per item."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Generic, TypeVar

from shared.errors import DatabaseThrottled, DatabaseUnavailable

Key = TypeVar("Key")
Answer = TypeVar("Answer")


class Together(Generic[Key, Answer]):
    """One of these is called with a key by many tasks of one batch, `call` with at most `most` keys at a time.

    `call` answers in the order of its keys. Where it fails for a reason of its own with several, each is called by
    itself, so that the error is that of whoever brought it about.
    """

    def __init__(self, call: Callable[[Sequence[Key]], Awaitable[Sequence[Answer]]], *, most: int) -> None:
        self._call = call
        self._most = most
        self._waiting: list[tuple[Key, asyncio.Future[Answer]]] = []
        self._running: asyncio.Task[None] | None = None

    async def __call__(self, key: Key) -> Answer:
        """The answer for this key, asked for after this call has begun. Raises what `call` raises for it."""
        future: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()
        self._waiting.append((key, future))
        if self._running is None:
            self._running = asyncio.create_task(self._run())
        return await future

    async def _run(self) -> None:
        try:
            while self._waiting:
                taken, self._waiting = self._waiting[: self._most], self._waiting[self._most :]
                await self._answer([(key, future) for key, future in taken if not future.done()])
        finally:
            self._running = None

    async def _answer(self, taken: Sequence[tuple[Key, asyncio.Future[Any]]]) -> None:
        if not taken:
            return
        try:
            answers = await self._call([key for key, _ in taken])
        except Exception as error:  # noqa: BLE001 - whatever it is, those who wait are to be told
            if len(taken) == 1 or isinstance(error, (DatabaseThrottled, DatabaseUnavailable)):
                for _, future in taken:
                    if not future.done():
                        future.set_exception(error)
                return
            for one in taken:
                await self._answer([one])
            return
        for (_, future), answer in zip(taken, answers, strict=True):
            if not future.done():
                future.set_result(answer)
