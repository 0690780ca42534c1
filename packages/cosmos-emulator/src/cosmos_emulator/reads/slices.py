"""What a request reads of a container: a logical partition, a range of keys, or all."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

from cosmos_emulator.errors import CosmosError
from cosmos_emulator.http import headers as h
from cosmos_emulator.http.messages import Request, partition_headers
from cosmos_emulator.http.sessions import known_lsn, session_lsns
from cosmos_emulator.partitioning.partition_keys import PartitionKey
from cosmos_emulator.partitioning.ranges import END, FIRST, KeyRange
from cosmos_emulator.store.account import Container
from cosmos_emulator.store.indexes import StoredIndex
from cosmos_emulator.store.items import ItemScope, ItemView
from cosmos_emulator.store.partition import Partition
from cosmos_emulator.store.replicas import Snapshot

RANGE_GONE: Final = 1002


@dataclass(frozen=True, slots=True)
class Slice:
    """A physical partition's items in `scope`, read through `items`."""

    partition: Partition
    scope: ItemScope
    items: ItemView

    @property
    def snapshot(self) -> Snapshot | None:
        """The replica's state that is read; None for the current state."""
        return self.items if isinstance(self.items, Snapshot) else None

    @property
    def lsn(self) -> int:
        """The LSN of the state that is read."""
        return self.snapshot.lsn if self.snapshot else self.partition.lsn

    @property
    def indexes(self) -> tuple[StoredIndex, ...]:
        """The complete indexes of that state."""
        return self.snapshot.indexes if self.snapshot else self.partition.indexes


def slices_of(request: Request, container: Container) -> list[Slice]:
    """Return the slices in the headers, in key order, or the whole container."""
    key = request.optional_partition_key(container)
    if key is not None:
        return slices_of_key(container, key)
    bounds = KeyRange(request.headers.get(h.START_EPK, FIRST), request.headers.get(h.END_EPK, END))
    range_id = request.headers.get(h.PARTITION_KEY_RANGE_ID)
    if range_id is None:
        return slices_of_range(container, bounds)
    partition = container.partition_by_id(range_id.rpartition(",")[2])
    if partition is None:
        raise CosmosError(410, f"Partition key range {range_id} is gone.", sub_status=RANGE_GONE)
    return [_slice(partition, bounds)]


def slices_of_key(container: Container, key: PartitionKey) -> list[Slice]:
    """Return a logical partition, or all with the prefix of a hierarchical key."""
    if key.is_prefix:
        return slices_of_range(container, KeyRange(key.epk, key.epk + END))
    partition = container.partition_of(key)
    return [Slice(partition, ItemScope(key=key), partition.committed)]


def slices_of_range(container: Container, bounds: KeyRange) -> list[Slice]:
    """Return each physical partition's part of a range. Raises 400 if no key can be in the range."""
    found = [_slice(partition, bounds) for partition in container.partitions_in(bounds)]
    if not found:
        raise CosmosError(400, f"There are no partition keys from {bounds.start!r} to {bounds.end!r}.")
    return found


def at_replicas(request: Request, slices: list[Slice]) -> list[Slice]:
    """Return the slices as replicas see them, at least as new as the client's session."""
    lag = request.gateway.settings.replica_lag
    if lag is None:
        return slices
    session = session_lsns(request)
    return [replace(one, items=one.partition.replicas.state(lag, known_lsn(session, one.partition))) for one in slices]


def slices_headers(container: Container, slices: list[Slice]) -> dict[str, str]:
    """Return the session headers of slices: the first partition's, with all session tokens."""
    headers = partition_headers(container, slices[0].partition, slices[0].lsn)
    tokens = (partition_headers(container, one.partition, one.lsn)[h.SESSION_TOKEN] for one in slices)
    return {**headers, h.SESSION_TOKEN: ",".join(tokens)}


def _slice(partition: Partition, bounds: KeyRange) -> Slice:
    scope = ItemScope() if bounds.covers(partition.range) else ItemScope(range=bounds)
    return Slice(partition, scope, partition.committed)
