"""Lease storage, bootstrap and etag-guarded updates.

Rules: azure-cosmos-dotnet-v3 ChangeFeedProcessor/LeaseManagement (DocumentServiceLeaseStoreCosmos.cs,
DocumentServiceLeaseUpdaterCosmos.cs, DocumentServiceLeaseManagerCosmos.cs) and Bootstrapping.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

from azure.core import MatchConditions
from azure.cosmos.aio import ContainerProxy
from azure.cosmos.exceptions import (
    CosmosAccessConditionFailedError,
    CosmosResourceExistsError,
    CosmosResourceNotFoundError,
)

from .lease import INCREMENTAL, FeedRange, Lease, parse_lease
from .partitions import PhysicalPartition

LOCK_TTL_S = 30
_UPDATE_ATTEMPTS = 6

Change = Callable[[Lease], Lease]


class LeaseLostError(Exception):
    """Another host owns the lease, or it was deleted."""


class LeaseStore:
    """The leases whose IDs start with `prefix`."""

    def __init__(
        self, container: ContainerProxy, prefix: str, *, keyed_by_partition_key: bool, mode: str = INCREMENTAL
    ) -> None:
        """Create a store for leases of a change feed mode.

        The container's partition key is `/id`, or `/partitionKey` if `keyed_by_partition_key`.
        """
        self._container = container
        self._prefix = prefix
        self._keyed = keyed_by_partition_key
        self._mode = mode

    async def is_initialized(self) -> bool:
        """Return whether the first leases exist."""
        return await self._read(f"{self._prefix}.info") is not None

    async def mark_initialized(self) -> None:
        """Record that the first leases exist."""
        await self._create_if_absent(self._keyed_item(f"{self._prefix}.info"))

    async def try_lock(self) -> str | None:
        """Acquire the bootstrap lock. Return its etag, or None if another host holds it.

        Deletes an expired lock, because a container without TTL would keep it after a crash.
        """
        lock_id = f"{self._prefix}.lock"
        try:
            item = await self._container.create_item({**self._keyed_item(lock_id), "ttl": LOCK_TTL_S})
        except CosmosResourceExistsError:
            stale = await self._read(lock_id)
            if stale is not None and stale["_ts"] + LOCK_TTL_S < time.time():
                await self.unlock(stale["_etag"])
            return None
        return str(item["_etag"])

    async def unlock(self, etag: str) -> None:
        """Release the bootstrap lock if this host still holds it."""
        await self._delete(f"{self._prefix}.lock", etag)

    async def create_missing(self, partitions: Iterable[PhysicalPartition]) -> None:
        """Create a lease for each partition without one."""
        for partition in partitions:
            await self.create(partition, continuation=None)

    async def create(self, partition: PhysicalPartition, *, continuation: str | None) -> None:
        """Create a free lease unless it exists."""
        lease_id = f"{self._prefix}..{partition.id}"
        lease = Lease(lease_id, partition.id, partition.feed_range, continuation=continuation, mode=self._mode)
        if self._keyed:
            lease = replace(lease, partition_key=lease_id)
        await self._create_if_absent(lease.as_item())

    async def list(self, ranges_by_id: dict[str, FeedRange]) -> list[Lease]:
        """Return the leases, ordered by ID."""
        pager = self._container.query_items(
            "SELECT * FROM c WHERE STARTSWITH(c.id, @prefix)",
            parameters=[{"name": "@prefix", "value": f"{self._prefix}.."}],
        )
        leases = [parse_lease(item, ranges_by_id, self._mode) async for item in pager]
        return sorted(leases, key=lambda lease: lease.id)

    async def update(self, lease: Lease, change: Change) -> Lease:
        """Replace a lease, retrying etag conflicts. Raises LeaseLostError, also from `change`."""
        for _ in range(_UPDATE_ATTEMPTS):
            changed = change(lease)
            try:
                item = await self._container.replace_item(
                    lease.id,
                    changed.as_item(),
                    etag=lease.etag,
                    match_condition=MatchConditions.IfNotModified,
                )
            except CosmosAccessConditionFailedError:
                found = await self._read(lease.id)
                if found is None:
                    raise LeaseLostError(f"lease '{lease.id}' was deleted") from None
                lease = parse_lease(found, {lease.token: lease.feed_range}, self._mode)
            except CosmosResourceNotFoundError:
                raise LeaseLostError(f"lease '{lease.id}' was deleted") from None
            else:
                return replace(changed, etag=item["_etag"])
        raise LeaseLostError(f"lease '{lease.id}' keeps changing; giving it up")

    async def delete(self, lease: Lease) -> None:
        """Delete a lease whose partition has split."""
        await self._delete(lease.id, lease.etag)

    def _keyed_item(self, item_id: str) -> dict[str, Any]:
        return {"id": item_id, "partitionKey": item_id} if self._keyed else {"id": item_id}

    async def _create_if_absent(self, item: dict[str, Any]) -> None:
        try:
            await self._container.create_item(item)
        except CosmosResourceExistsError:
            return

    async def _read(self, item_id: str) -> dict[str, Any] | None:
        try:
            return await self._container.read_item(item_id, item_id)
        except CosmosResourceNotFoundError:
            return None

    async def _delete(self, item_id: str, etag: str | None) -> None:
        try:
            await self._container.delete_item(
                item_id, item_id, etag=etag, match_condition=MatchConditions.IfNotModified
            )
        except (CosmosResourceNotFoundError, CosmosAccessConditionFailedError):
            return
