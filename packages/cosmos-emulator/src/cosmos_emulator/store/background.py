"""Background work on an account's partitions: a few milliseconds at a time, between requests.

Partitions purge expired items, apply a new default TTL, trim logs and build indexes. Each of these is a chore: a method
that works until its budget is used, in one transaction, and returns whether work remains. The files show what remains,
so a chore that was interrupted continues when its partition is opened again.
"""

from __future__ import annotations

import asyncio
import logging
import sqlite3
from typing import TYPE_CHECKING, Final

from cosmos_emulator.store.open_partitions import OpenPartitions

if TYPE_CHECKING:
    from cosmos_emulator.store.partition import Partition

_LOG: Final = logging.getLogger(__name__)


class BackgroundWork:
    """One task for the chores of all partitions, in turn. It leaves half of the time to requests."""

    def __init__(self, open_partitions: OpenPartitions, purge_interval_s: float) -> None:
        """Start to purge the open partitions at intervals."""
        self._loop = asyncio.get_running_loop()
        self._open = open_partitions
        self._interval_s = purge_interval_s
        self._waiting: dict[Partition, None] = {}
        self._task: asyncio.Task[None] | None = None
        self._is_closed = False
        self._timer = self._loop.call_later(purge_interval_s, self._purge_again)

    def wake(self, partition: Partition) -> None:
        """Start the chores of a partition, from any thread."""
        self._loop.call_soon_threadsafe(self._enqueue, partition)

    def purge(self) -> None:
        """Start to delete expired items and old changes. Reads already skip them."""
        for partition in self._open.current():
            partition.purge()

    async def idle(self) -> None:
        """Wait until no work remains."""
        await asyncio.sleep(0)  # for a preceding `wake`
        while self._task is not None and not self._task.done():
            await asyncio.wait([self._task])

    async def close(self) -> None:
        """Stop working."""
        self._is_closed = True
        self._timer.cancel()
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    def _purge_again(self) -> None:
        self.purge()
        self._timer = self._loop.call_later(self._interval_s, self._purge_again)

    def _enqueue(self, partition: Partition) -> None:
        if self._is_closed:
            return
        self._waiting[partition] = None
        if self._task is None or self._task.done():
            self._task = self._loop.create_task(self._run(), name="cosmos-background")

    async def _run(self) -> None:
        while self._waiting:
            partition = next(iter(self._waiting))
            del self._waiting[partition]
            remains, used_s = True, 0.0
            try:
                remains, used_s = await partition.do_chore()
            except sqlite3.Error:  # the next purge, request or start of the emulator tries this chore again
                _LOG.exception("background work on partition %s failed", partition.id)
            if remains:
                self._waiting[partition] = None
            await asyncio.sleep(used_s)
