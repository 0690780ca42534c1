"""Processing of one lease: renewal, delivery, checkpoints.

Rules: azure-cosmos-dotnet-v3 ChangeFeedProcessor (FeedProcessorCore.cs, LeaseRenewerCore.cs, AutoCheckpointer.cs)
and azure-webjobs-sdk-extensions CosmosDB/Trigger/CosmosDBTriggerListener.cs.
"""

from __future__ import annotations

import asyncio
import json
import logging
import math
from collections.abc import Awaitable, Callable
from enum import Enum, auto

from azure.core.exceptions import AzureError

from ..date_texts import UnparsableChangesError
from ..errors import InvocationError, RetriesAbortedError
from ..retry import is_set_within
from .binding import CosmosTriggerBinding
from .change_feed import FeedPage, FeedReader, PartitionSplitError
from .lease import FULL_FIDELITY, Lease
from .lease_store import LeaseLostError, LeaseStore

Deliver = Callable[[str, asyncio.Event], Awaitable[None]]
"""Delivers a JSON array of changes to the function, with retries until the event is set."""

_log = logging.getLogger("Host.Triggers.CosmosDB")


class End(Enum):
    """Why processing ended."""

    STOPPED = auto()
    DRAINED = auto()
    LOST = auto()
    SPLIT = auto()
    FAILED = auto()


class LeaseProcessor:
    """Processes a lease until it is halted, loses the lease or cannot read the feed."""

    def __init__(
        self,
        lease: Lease,
        owner: str,
        store: LeaseStore,
        reader: FeedReader,
        deliver: Deliver,
        binding: CosmosTriggerBinding,
    ) -> None:
        self.lease = lease
        self._owner = owner
        self._store = store
        self._reader = reader
        self._deliver = deliver
        self._binding = binding
        self._halted = asyncio.Event()
        self._woken = asyncio.Event()
        # When the last read that found no change began. All earlier changes are checkpointed.
        self.caught_up_at = -math.inf
        self._end = End.STOPPED
        # Renewal and checkpoint both replace the lease; the lock avoids etag conflicts between them.
        self._update_lock = asyncio.Lock()

    def halt(self, end: End) -> None:
        """Stop after the running call. Its batch is checkpointed only if `end` is DRAINED."""
        if not self._halted.is_set():
            self._end = end
            self._halted.set()
            self._woken.set()

    def wake(self) -> None:
        """Read the feed now, if it waits for the poll delay."""
        self._woken.set()

    async def run(self) -> End:
        """Process until an `End`. Release the lease except after LOST and SPLIT."""
        renewal = asyncio.create_task(self._renew())
        try:
            await self._pump()
        except LeaseLostError as error:
            _log.info("%s", error)
            self._end = End.LOST
        except PartitionSplitError as error:
            _log.info("lease=%s %s", self.lease.token, error)
            self._end = End.SPLIT
        except (AzureError, UnparsableChangesError) as error:
            _log.warning("lease=%s failed to read the feed or write a checkpoint: %s", self.lease.token, error)
            self._end = End.FAILED
        finally:
            renewal.cancel()
            await asyncio.gather(renewal, return_exceptions=True)
        if self._end not in (End.LOST, End.SPLIT):
            await self._release()
        return self._end

    async def _pump(self) -> None:
        continuation = self.lease.continuation
        while not self._halted.is_set():
            began = asyncio.get_running_loop().time()
            page = await self._reader.read(continuation)
            continuation = page.etag
            if not page.is_new:
                if self.lease.continuation is None and self.lease.mode == FULL_FIDELITY:
                    await self._checkpoint(page.etag)  # this mode starts only now, so a restart would lose changes
                self.caught_up_at = began
                await is_set_within(self._woken, self._binding.poll_delay_s)
                self._woken.clear()
            elif await self._handle(page):
                await self._checkpoint(page.etag)

    async def _handle(self, page: FeedPage) -> bool:
        """Deliver a page and return whether to checkpoint it."""
        if not page.items:
            return True
        try:
            await self._deliver(json.dumps(page.items), self._halted)
        except InvocationError as error:
            _log.warning(
                "Lease %s encountered an unhandled user exception during processing; its %d changes are skipped: %s",
                self.lease.token,
                len(page.items),
                error,
            )
        except RetriesAbortedError:
            return False
        # A batch that completes during a stop, or after the lease is lost, is delivered again.
        return not self._halted.is_set() or self._end is End.DRAINED

    async def _renew(self) -> None:
        delay_s = self._binding.renew_interval_s / 2
        while not await is_set_within(self._halted, delay_s):
            delay_s = self._binding.renew_interval_s
            try:
                await self._update(Lease.touched)
            except LeaseLostError as error:
                _log.info("lease=%s lost: %s", self.lease.token, error)
                self.halt(End.LOST)
            except AzureError as error:
                _log.warning("lease=%s not renewed: %s", self.lease.token, error)

    async def _checkpoint(self, etag: str) -> None:
        await self._update(lambda lease: lease.touched(continuation=etag))

    async def _release(self) -> None:
        try:
            await self._update(lambda lease: lease.touched(owner=None))
        except (LeaseLostError, AzureError) as error:
            _log.info("lease=%s not released: %s", self.lease.token, error)

    async def _update(self, change: Callable[[Lease], Lease]) -> None:
        def if_mine(lease: Lease) -> Lease:
            if lease.owner != self._owner:
                raise LeaseLostError(f"lease '{lease.id}' was taken over by {lease.owner}")
            return change(lease)

        async with self._update_lock:
            self.lease = await self._store.update(self.lease, if_mine)
