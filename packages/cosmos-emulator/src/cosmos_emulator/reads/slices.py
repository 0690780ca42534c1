"""Slices of a container: a logical partition, a range of keys, or all."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

from cosmos_emulator.errors import CosmosError
from cosmos_emulator.partitioning.partition_keys import PartitionKey
from cosmos_emulator.partitioning.ranges import END, KeyRange
from cosmos_emulator.store.account import Container
from cosmos_emulator.store.index_entries import StoredIndex
from cosmos_emulator.store.items import ItemScope, ItemView
from cosmos_emulator.store.partition import Partition
from cosmos_emulator.store.replicas import Snapshot


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
        return self.items.lsn if isinstance(self.items, Snapshot) else self.partition.lsn

    @property
    def indexes(self) -> tuple[StoredIndex, ...]:
        """The complete indexes of that state."""
        return self.items.indexes if isinstance(self.items, Snapshot) else self.partition.indexes


def slices_of_key(container: Container, key: PartitionKey) -> list[Slice]:
    """Return a logical partition, or all with the prefix of a hierarchical key."""
    if key.is_prefix:
        return slices_of_range(container, KeyRange(key.epk, key.epk + END))
    partition = container.partition_of(key)
    return [Slice(partition, ItemScope(key=key), partition.committed)]


def slices_of_range(container: Container, bounds: KeyRange) -> list[Slice]:
    """Return each physical partition's part of a range. Raises 400 if no key can be in the range."""
    found = [slice_of(partition, bounds) for partition in container.partitions_in(bounds)]
    if not found:
        raise CosmosError(400, f"There are no partition keys from {bounds.start!r} to {bounds.end!r}.")
    return found


def slice_of(partition: Partition, bounds: KeyRange) -> Slice:
    """Return a physical partition's part of a range."""
    scope = ItemScope() if bounds.covers(partition.range) else ItemScope(range=bounds)
    return Slice(partition, scope, partition.committed)


def separately_read(slices: Iterable[Slice]) -> list[Slice]:
    """Return slices with connections of their own, for a worker thread. Only the last one read is open."""
    views: list[ItemView] = []

    def close_others() -> None:
        for view in views:
            view.close()

    found = [one if one.snapshot else replace(one, items=one.partition.separate_view(close_others)) for one in slices]
    views += [one.items for one in found if not one.snapshot]
    return found


@contextmanager
def closed_at_end(slices: Iterable[Slice]) -> Iterator[None]:
    """Close the connections of separately read slices after the block, until the next read."""
    try:
        yield
    finally:
        close(slices)


def close(slices: Iterable[Slice]) -> None:
    """Close the connections of separately read slices, until the next read."""
    for one in slices:
        if not one.snapshot:
            one.items.close()
