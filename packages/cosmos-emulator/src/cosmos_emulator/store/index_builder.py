"""Builds indexes in the background, between requests."""

from __future__ import annotations

import asyncio
import logging
import sqlite3
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from cosmos_emulator.store.partition import Partition

_LOG: Final = logging.getLogger(__name__)


class IndexBuilder:
    """One task for all partitions of an account."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._waiting: dict[Partition, None] = {}
        self._task: asyncio.Task[None] | None = None
        self._is_closed = False

    def wake(self, partition: Partition) -> None:
        """Schedule a partition's missing indexes, from any thread."""
        self._loop.call_soon_threadsafe(self._enqueue, partition)

    async def idle(self) -> None:
        """Wait until all indexes are built."""
        await asyncio.sleep(0)  # for a preceding `wake`
        while self._task is not None and not self._task.done():
            await asyncio.wait([self._task])

    async def close(self) -> None:
        """Stop building. Reopening resumes the work."""
        self._is_closed = True
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    def _enqueue(self, partition: Partition) -> None:
        if self._is_closed:
            return
        self._waiting[partition] = None
        if self._task is None or self._task.done():
            self._task = self._loop.create_task(self._run(), name="cosmos-index-builder")

    async def _run(self) -> None:
        while self._waiting:
            partition = next(iter(self._waiting))
            del self._waiting[partition]
            try:
                if await partition.build_slice():
                    self._waiting[partition] = None
            except sqlite3.Error:  # queries scan until one requests the index again
                _LOG.exception("could not build an index of partition %s", partition.id)
            await asyncio.sleep(0)
