"""The listener of one Cosmos DB function: prepares the leases, then takes its share of them.

Rules: azure-webjobs-sdk-extensions CosmosDB/Trigger/CosmosDBTriggerListener.cs; azure-cosmos-dotnet-v3
ChangeFeedProcessor/FeedManagement (PartitionLoadBalancerCore.cs, PartitionControllerCore.cs) and Bootstrapping.
"""

from __future__ import annotations

import asyncio
import logging
import random
import uuid
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from azure.core.exceptions import AzureError
from azure.cosmos import PartitionKey
from azure.cosmos.aio import ContainerProxy, CosmosClient
from azure.cosmos.exceptions import CosmosResourceExistsError, CosmosResourceNotFoundError

from ..app_settings import AppSettings
from ..errors import ListenerStartError
from ..functions import LoadedFunction
from ..invocation import Invoker
from ..payloads import documents_argument
from ..retry import RetryPolicy, RetryState, is_set_within, run_with_retries
from .balancing import leases_to_take
from .binding import CosmosTriggerBinding, parse_binding
from .change_feed import FeedReader
from .connection import ClientCache, resolve_connection
from .lease import Lease
from .lease_processor import End, LeaseProcessor, Timing
from .lease_store import Change, LeaseLostError, LeaseStore
from .partitions import read_partitions

# The .NET processor sleeps 15 s before it looks at another host's bootstrap again; nothing depends on that.
BOOTSTRAP_POLL_S = 1.0
STOP_TIMEOUT_S = 10.0

_log = logging.getLogger("Host.Triggers.CosmosDB")


class CosmosListener:
    """Watches one container for one function, together with other hosts that share the leases."""

    def __init__(
        self,
        function: LoadedFunction,
        invoker: Invoker,
        settings: AppSettings,
        clients: ClientCache,
        retry: RetryPolicy | None,
    ) -> None:
        """Raises FunctionIndexError for a binding or a connection that cannot be used."""
        self.function_name = function.name
        self._function = function
        self._invoker = invoker
        self._retry = retry
        self._clients = clients
        self._binding = parse_binding(function.trigger, settings)
        self._connection = resolve_connection(self._binding.connection, settings)
        self._lease_connection = resolve_connection(self._binding.lease_connection, settings)
        self._halted = asyncio.Event()
        self._processors: dict[str, tuple[LeaseProcessor, asyncio.Task[None]]] = {}
        self._balancing: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Find the containers, make the first leases, begin to take some. Raises ListenerStartError."""
        binding = self._binding
        client = self._clients.get(self._connection, binding.preferred_locations)
        lease_client = self._clients.get(self._lease_connection, binding.preferred_locations)
        await client.__aenter__()
        if lease_client is not client:
            await lease_client.__aenter__()
        if binding.create_lease_container:
            await _create_lease_container(lease_client, binding)
        try:
            await self._start_balancing(client, lease_client)
        except CosmosResourceNotFoundError as error:
            raise ListenerStartError(
                f"either the monitored container '{binding.container}' in database '{binding.database}' or the lease "
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
        store = LeaseStore(lease_container, prefix, keyed_by_partition_key=keyed)
        if binding.start == "now":
            # Pinned, as the .NET SDK does since 3.62: a lease that changes hands before its first checkpoint
            # then loses nothing that was written after this host began to listen.
            self._binding = replace(binding, start=datetime.now(UTC) - timedelta(seconds=1))
        await _bootstrap(store, container)
        # A new name per start, so that a restarted host never takes an old lease for its own.
        balancer = self._balance(store, container, owner=str(uuid.uuid4()))
        self._balancing = asyncio.create_task(balancer)

    async def stop(self, *, drain: bool) -> None:
        """Take no more leases, let the calls under way end (10 s), release the leases."""
        self._halted.set()
        for processor, _ in self._processors.values():
            processor.halt(End.DRAINED if drain else End.STOPPED)
        try:
            async with asyncio.timeout(STOP_TIMEOUT_S):
                while running := self._running():
                    await asyncio.wait(running)
        except TimeoutError:
            _log.warning("function=%s is still running and is left behind", self.function_name)
        left = self._running()
        for task in left:
            task.cancel()
        await asyncio.gather(*left, return_exceptions=True)

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
                await self._take_share(store, container, owner)
            except AzureError as error:
                _log.warning("function=%s could not look at the leases: %s", self.function_name, error)
            except Exception:  # noqa: BLE001 - the edge of a background task, which must not end in silence
                _log.exception("function=%s cannot balance its leases", self.function_name)

    async def _take_share(self, store: LeaseStore, container: ContainerProxy, owner: str) -> None:
        ranges = {partition.id: partition.feed_range for partition in await read_partitions(container)}
        leases = [self._with_true_owner(lease, owner) for lease in await store.list(ranges)]
        expiration = timedelta(seconds=self._binding.expiration_interval_s)
        for lease in leases_to_take(leases, owner, datetime.now(UTC), expiration, random.choice):
            if self._halted.is_set():
                return
            if lease.id in self._processors:
                continue
            try:
                acquired = await store.update(lease, _taken_by(owner, from_owner=lease.owner))
            except LeaseLostError as error:
                _log.debug("%s", error)
                continue
            _log.info("function=%s owner=%s acquired lease %s", self.function_name, owner, acquired.token)
            self._process(acquired, owner, store, container)

    def _with_true_owner(self, lease: Lease, owner: str) -> Lease:
        """A lease in this host's name that nobody processes is free: its release failed, say in an outage.

        The .NET processor waits until such a lease expires; taking it at once loses nothing.
        """
        is_orphan = lease.owner == owner and lease.id not in self._processors
        return replace(lease, owner=None) if is_orphan else lease

    def _process(self, lease: Lease, owner: str, store: LeaseStore, container: ContainerProxy) -> None:
        binding = self._binding
        reader = FeedReader(container, lease.feed_range, binding.start, binding.page_size)
        timing = Timing(binding.poll_delay_s, binding.renew_interval_s)
        processor = LeaseProcessor(lease, owner, store, reader, self._deliver, timing)
        if self._halted.is_set():
            # Acquired in the very moment of a stop: it is only released again.
            processor.halt(End.STOPPED)
        task = asyncio.create_task(self._run(processor, store, container))
        self._processors[lease.id] = (processor, task)

    async def _run(self, processor: LeaseProcessor, store: LeaseStore, container: ContainerProxy) -> None:
        try:
            if await processor.run() is End.SPLIT:
                await _split(processor.lease, store, container)
        except AzureError as error:
            _log.warning("lease=%s could not be split: %s", processor.lease.token, error)
        except Exception:  # noqa: BLE001 - the edge of a background task, which must not end in silence
            _log.exception("lease=%s its processing ended", processor.lease.token)
        finally:
            del self._processors[processor.lease.id]

    async def _deliver(self, payload: str, halted: asyncio.Event) -> None:
        async def call(state: RetryState) -> object:
            argument = documents_argument(self._function, payload)
            return await self._invoker.invoke(self._function, {self._function.argument: argument}, retry=state)

        await run_with_retries(self._retry, call, halted=halted, random=random.random)


def _taken_by(owner: str, *, from_owner: str | None) -> Change:
    def change(lease: Lease) -> Lease:
        if lease.owner != from_owner:
            raise LeaseLostError(f"lease '{lease.id}' was taken by {lease.owner} meanwhile")
        return lease.touched(owner=owner)

    return change


async def _create_lease_container(client: CosmosClient, binding: CosmosTriggerBinding) -> None:
    # The SDK looks first and creates then: another host, or another trigger of this one, may come in between.
    with suppress(CosmosResourceExistsError):
        await client.create_database_if_not_exists(binding.lease_database)
    with suppress(CosmosResourceExistsError):
        await client.get_database_client(binding.lease_database).create_container_if_not_exists(
            binding.lease_container,
            PartitionKey(path="/id"),
            default_ttl=-1,
            offer_throughput=binding.lease_throughput,
        )


async def _is_keyed_by_partition_key(container: ContainerProxy) -> bool:
    paths = (await container.read())["partitionKey"]["paths"]
    if paths not in (["/id"], ["/partitionKey"]):
        raise ListenerStartError(
            f"the lease container '{container.id}' must be partitioned by /id or /partitionKey, not by {paths}"
        )
    return bool(paths == ["/partitionKey"])


async def _bootstrap(store: LeaseStore, container: ContainerProxy) -> None:
    """Make the first leases, once among all hosts."""
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
    """Replace a lease by those of the partitions that its range has become; they go on where it was."""
    for partition in await read_partitions(container):
        if parent.feed_range.overlaps(partition.feed_range):
            await store.create(partition, continuation=parent.continuation)
    await store.delete(parent)
