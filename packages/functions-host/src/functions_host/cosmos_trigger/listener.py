"""The listener of one Cosmos DB function.

Rules: azure-webjobs-sdk-extensions CosmosDB/Trigger/CosmosDBTriggerListener.cs; azure-cosmos-dotnet-v3
ChangeFeedProcessor/FeedManagement (PartitionLoadBalancerCore.cs, PartitionControllerCore.cs) and Bootstrapping.
"""

from __future__ import annotations

import asyncio
import logging
import random
import uuid
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from azure.core.exceptions import AzureError
from azure.cosmos.aio import ContainerProxy, CosmosClient
from azure.cosmos.exceptions import CosmosResourceNotFoundError

from ..app_settings import AppSettings
from ..cosmos_connection import ClientCache, create_container, resolve_connection
from ..errors import InvocationError, ListenerStartError
from ..functions import LoadedFunction
from ..invocation import Invoker
from ..payloads import decode_documents
from ..retry import RetryPolicy, RetryState, is_set_within, run_with_retries
from .balancing import leases_to_acquire
from .binding import parse_binding
from .change_feed import FeedReader
from .lease import FULL_FIDELITY, INCREMENTAL, Lease
from .lease_processor import End, LeaseProcessor
from .lease_store import Change, LeaseLostError, LeaseStore
from .partitions import read_partitions

# The .NET processor waits 15 s for another host's bootstrap. A shorter delay is safe.
BOOTSTRAP_POLL_S = 1.0
CATCH_UP_POLL_S = 0.02

_log = logging.getLogger("Host.Triggers.CosmosDB")


class CosmosListener:
    """Watches a container for one function and shares its leases with other hosts."""

    def __init__(
        self,
        function: LoadedFunction,
        invoker: Invoker,
        settings: AppSettings,
        clients: ClientCache,
        retry: RetryPolicy | None,
        *,
        parses_dates: bool = True,
    ) -> None:
        """Parse the binding. Raises FunctionIndexError."""
        self.function_name = function.name
        self._function = function
        self._invoker = invoker
        self._retry = retry
        self._clients = clients
        self._parses_dates = parses_dates
        self._binding = parse_binding(function.trigger, settings)
        self._connection = resolve_connection(self._binding.connection, settings)
        self._lease_connection = resolve_connection(self._binding.lease_connection, settings)
        self._halted = asyncio.Event()
        self._processors: dict[str, tuple[LeaseProcessor, asyncio.Task[None]]] = {}
        self._balancing: asyncio.Task[None] | None = None
        self._monitored: tuple[LeaseStore, ContainerProxy] | None = None
        self._last_failure: InvocationError | None = None
        # Of the batches that were lost since the last `catch_up`. Only one error, because each holds its batch.
        self._lost_batches = 0
        self._last_lost: InvocationError | None = None

    async def start(self) -> None:
        """Create missing leases and start to acquire them. Raises ListenerStartError or AzureError."""
        binding = self._binding
        client = await self._clients.open(self._connection, binding.preferred_locations)
        lease_client = await self._clients.open(self._lease_connection, binding.preferred_locations)
        if binding.create_lease_container:
            await create_container(
                lease_client,
                binding.lease_database,
                binding.lease_container,
                "/id",
                offer_throughput=binding.lease_throughput,
                default_ttl=-1,
            )
        try:
            await self._start_balancing(client, lease_client)
        except CosmosResourceNotFoundError as error:
            raise ListenerStartError(
                f"the monitored container '{binding.container}' in database '{binding.database}' or the lease "
                f"container '{binding.lease_container}' in database '{binding.lease_database}' does not exist"
            ) from error

    async def _start_balancing(self, client: CosmosClient, lease_client: CosmosClient) -> None:
        binding = self._binding
        database = client.get_database_client(binding.database)
        container = database.get_container_client(binding.container)
        database_rid = (await database.read())["_rid"]
        container_rid = (await container.read())["_rid"]
        lease_container = lease_client.get_database_client(binding.lease_database).get_container_client(
            binding.lease_container
        )
        prefix = f"{binding.lease_prefix}{self._connection.account_host}_{database_rid}_{container_rid}"
        keyed = await _is_keyed_by_partition_key(lease_container)
        mode = FULL_FIDELITY if binding.mode == "AllVersionsAndDeletes" else INCREMENTAL
        store = LeaseStore(lease_container, prefix, keyed_by_partition_key=keyed, mode=mode)
        if binding.start == "now" and mode == INCREMENTAL:
            # Like the .NET SDK since 3.62, pin "now": a lease that changes hands before its first checkpoint
            # must not lose changes made after this host started to listen.
            self._binding = replace(binding, start=datetime.now(UTC) - timedelta(seconds=1))
        await _bootstrap(store, container)
        # A new ID per start, so a restarted host never mistakes an old lease for its own.
        balancer = self._balance(store, container, owner=str(uuid.uuid4()))
        self._balancing = asyncio.create_task(balancer)
        self._monitored = store, container

    async def stop(self, *, drain: bool, grace_s: float) -> None:
        """Wait up to `grace_s` seconds for running calls and release the leases."""
        self._halted.set()
        for processor, _ in self._processors.values():
            processor.halt(End.DRAINED if drain else End.STOPPED)
        try:
            async with asyncio.timeout(grace_s):
                while running := self._running():
                    await asyncio.wait(running)
        except TimeoutError:
            _log.warning("function=%s is still running; its batch will be delivered again", self.function_name)
        left = self._running()
        for task in left:
            task.cancel()
        await asyncio.gather(*left, return_exceptions=True)

    async def catch_up(self, timeout_s: float) -> None:
        """Wait until this host, or another that shares the leases, has checkpointed the changes made so far.

        Raises InvocationError if this host has lost a batch since the last call, because the function failed, and
        TimeoutError with the leases that are behind and the last failure.
        """
        wanted = asyncio.get_running_loop().time()
        left = ["its trigger is not listening"]
        try:
            async with asyncio.timeout(timeout_s):
                while left := await self._left(wanted) if self._monitored else left:  # noqa: ASYNC110 - polls others
                    await asyncio.sleep(CATCH_UP_POLL_S)
        except TimeoutError:
            failure = f"; its last failure: {self._last_failure}" if self._last_failure else ""
            raise TimeoutError(
                f"function '{self.function_name}' has not caught up within {timeout_s:g} s: {', '.join(left)}{failure}"
            ) from self._last_failure
        lost, last, self._lost_batches, self._last_lost = self._lost_batches, self._last_lost, 0, None
        if last:
            raise InvocationError(
                f"function '{self.function_name}' failed; lost batches: {lost}; last failure: {last}"
            ) from last.__cause__

    async def _left(self, wanted: float) -> list[str]:
        """Return a text for each partition with changes that were made before `wanted` and have no checkpoint."""
        assert self._monitored is not None  # noqa: S101 - for mypy
        store, container = self._monitored
        left = []
        mine = {lease_id: processor for lease_id, (processor, _) in self._processors.items()}
        for processor in mine.values():
            if processor.caught_up_at < wanted:
                processor.wake()
                left.append(f"lease {processor.lease.token} of this host has changes without a checkpoint")
        ranges = {partition.id: partition.feed_range for partition in await read_partitions(container)}
        if len(mine) >= len(ranges):
            return left
        leases = {lease.token: lease for lease in await store.list(ranges) if lease.id not in mine}
        for token in ranges.keys() - {processor.lease.token for processor in mine.values()}:
            lease = leases.get(token)
            if lease is None:
                left.append(f"partition {token} has no lease")
                continue
            reader = self._reader(container, lease)
            page = await reader.read(lease.continuation)
            if page.is_new or lease.owner is None:
                owner = f"host {lease.owner}" if lease.owner else "no host"
                left.append(f"lease {token} of {owner} has {len(page.items)} changes without a checkpoint")
        return left

    def _running(self) -> list[asyncio.Task[None]]:
        tasks = [task for _, task in self._processors.values()]
        if self._balancing is not None:
            tasks.append(self._balancing)
        return [task for task in tasks if not task.done()]

    async def _balance(self, store: LeaseStore, container: ContainerProxy, owner: str) -> None:
        delay_s = 0.0
        while not await is_set_within(self._halted, delay_s):
            delay_s = self._binding.acquire_interval_s
            try:
                await self._acquire_share(store, container, owner)
            except AzureError as error:
                _log.warning("function=%s failed to read the leases: %s", self.function_name, error)
            except Exception:  # noqa: BLE001 - a background task must not fail silently
                _log.exception("function=%s failed to balance its leases", self.function_name)

    async def _acquire_share(self, store: LeaseStore, container: ContainerProxy, owner: str) -> None:
        ranges = {partition.id: partition.feed_range for partition in await read_partitions(container)}
        leases = [self._without_orphaned_owner(lease, owner) for lease in await store.list(ranges)]
        expiration = timedelta(seconds=self._binding.expiration_interval_s)
        for lease in leases_to_acquire(leases, owner, datetime.now(UTC), expiration, random.choice):
            if self._halted.is_set():
                return
            if lease.id in self._processors:
                continue
            try:
                acquired = await store.update(lease, _acquired_by(owner, from_owner=lease.owner))
            except LeaseLostError as error:
                _log.debug("%s", error)
                continue
            _log.debug("function=%s owner=%s acquired lease %s", self.function_name, owner, acquired.token)
            self._process(acquired, owner, store, container)

    def _without_orphaned_owner(self, lease: Lease, owner: str) -> Lease:
        """Free a lease that this host owns but does not process, because releasing it failed.

        The .NET processor waits until it expires.
        """
        is_orphan = lease.owner == owner and lease.id not in self._processors
        return replace(lease, owner=None) if is_orphan else lease

    def _reader(self, container: ContainerProxy, lease: Lease) -> FeedReader:
        binding = self._binding
        return FeedReader(
            container,
            lease.feed_range,
            binding.start,
            binding.page_size,
            binding.mode,
            parses_dates=self._parses_dates,
        )

    def _process(self, lease: Lease, owner: str, store: LeaseStore, container: ContainerProxy) -> None:
        processor = LeaseProcessor(lease, owner, store, self._reader(container, lease), self._deliver, self._binding)
        if self._halted.is_set():
            # Acquired during a stop: only release it.
            processor.halt(End.STOPPED)
        task = asyncio.create_task(self._run(processor, store, container))
        self._processors[lease.id] = (processor, task)

    async def _run(self, processor: LeaseProcessor, store: LeaseStore, container: ContainerProxy) -> None:
        try:
            if await processor.run() is End.SPLIT:
                await _split(processor.lease, store, container)
        except AzureError as error:
            _log.warning("lease=%s failed to replace the lease after a split: %s", processor.lease.token, error)
        except Exception:  # noqa: BLE001 - a background task must not fail silently
            _log.exception("lease=%s processing failed", processor.lease.token)
        finally:
            del self._processors[processor.lease.id]

    async def _deliver(self, payload: str, halted: asyncio.Event) -> None:
        async def call(state: RetryState) -> object:
            argument = decode_documents(self._function.argument_type, payload)
            try:
                return await self._invoker.invoke(self._function, {self._function.argument: argument}, retry=state)
            except InvocationError as error:
                self._last_failure = error
                raise

        try:
            await run_with_retries(self._retry, call, halted=halted, random=random.random)
        except InvocationError as error:
            self._lost_batches, self._last_lost = self._lost_batches + 1, error
            raise


def _acquired_by(owner: str, *, from_owner: str | None) -> Change:
    def change(lease: Lease) -> Lease:
        if lease.owner != from_owner:
            raise LeaseLostError(f"lease '{lease.id}' was acquired by {lease.owner} first")
        return lease.touched(owner=owner)

    return change


async def _is_keyed_by_partition_key(container: ContainerProxy) -> bool:
    paths = (await container.read())["partitionKey"]["paths"]
    if paths not in (["/id"], ["/partitionKey"]):
        raise ListenerStartError(
            f"the lease container '{container.id}' must be partitioned by /id or /partitionKey, not {paths}"
        )
    return bool(paths == ["/partitionKey"])


async def _bootstrap(store: LeaseStore, container: ContainerProxy) -> None:
    """Create the first leases, or wait until another host has created them."""
    while not await store.is_initialized():
        lock = await store.try_lock()
        if lock is None:
            await asyncio.sleep(BOOTSTRAP_POLL_S)
            continue
        try:
            await store.create_missing(await read_partitions(container))
            await store.mark_initialized()
        finally:
            await store.unlock(lock)


async def _split(parent: Lease, store: LeaseStore, container: ContainerProxy) -> None:
    """Replace a lease with one lease per child range. They continue at its continuation."""
    for partition in await read_partitions(container):
        if parent.feed_range.overlaps(partition.feed_range):
            await store.create(partition, continuation=parent.continuation)
    await store.delete(parent)
