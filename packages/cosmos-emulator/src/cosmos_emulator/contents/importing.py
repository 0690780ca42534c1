"""Bulk import, which validates and stores each item like a create.

A transaction writes thousands of items. Each has its own LSN, so a change feed page can end after any.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import Final

from cosmos_emulator import json_text
from cosmos_emulator.charges import ChargeModel
from cosmos_emulator.documents.logical_partition import LogicalPartition
from cosmos_emulator.errors import CosmosError
from cosmos_emulator.json_text import JsonObject
from cosmos_emulator.partitioning.partition_keys import PartitionKey
from cosmos_emulator.store.account import Container
from cosmos_emulator.store.items import Clock, ItemTransaction, StoredItem
from cosmos_emulator.store.partition import Partition

_AT_ONCE: Final = 20_000  # items of a transaction
_BYTES_AT_ONCE: Final = 16 << 20
_CHARGES: Final = ChargeModel("service-2026")  # unused: imports are not charged

_Row = tuple[StoredItem, JsonObject, list[str]]


async def import_items(container: Container, lines: Iterable[bytes], clock: Clock) -> int:
    """Create an item for each line of JSON, skipping empty lines; return their number.

    Raises 400 and 409 like a create. Earlier transactions are kept.
    """
    items = ItemImport(container, clock)
    for number, line in enumerate((line for line in lines if line.strip()), start=1):
        await items.add(number, line)
    await items.store()
    return items.count


class ItemImport:
    """Creates items, many in a transaction."""

    def __init__(self, container: Container, clock: Clock) -> None:
        self._container = container
        self._clock = clock
        self._waiting: list[tuple[int, bytes]] = []
        self._bytes = 0
        self.count = 0

    async def add(self, line_number: int, document: bytes) -> None:
        """Add an item, which can be stored later. Raises 400 and 409, also for an item before."""
        self._waiting.append((line_number, document))
        self._bytes += len(document)
        if len(self._waiting) >= _AT_ONCE or self._bytes >= _BYTES_AT_ONCE:
            await self.store()

    async def store(self) -> None:
        """Store all added items. Raises 400 and 409."""
        for partition, documents in _by_partition(self._container, self._waiting):
            try:
                async with partition.transaction() as items:
                    await asyncio.to_thread(_insert, self._container, partition, items, documents, int(self._clock()))
            except CosmosError as error:
                first, last = self._waiting[0][0], self._waiting[-1][0]
                raise CosmosError(error.status, f"Lines {first} to {last}: {error.message}") from error
        self.count += len(self._waiting)
        self._waiting.clear()
        self._bytes = 0


def _by_partition(
    container: Container, lines: list[tuple[int, bytes]]
) -> list[tuple[Partition, list[tuple[PartitionKey, JsonObject]]]]:
    found: dict[Partition, list[tuple[PartitionKey, JsonObject]]] = {}
    keys = container.definition.partition_key
    for number, line in lines:
        try:
            document = json_text.parse_object(line)
            key = keys.of_document(document)
        except CosmosError as error:
            raise CosmosError(error.status, f"Line {number}: {error.message}") from error
        found.setdefault(container.partition_of(key), []).append((key, document))
    return list(found.items())


def _insert(
    container: Container,
    partition: Partition,
    items: ItemTransaction,
    documents: list[tuple[PartitionKey, JsonObject]],
    now_s: int,
) -> None:
    rows: list[_Row] = []
    unique_values = container.definition.unique_values
    for number, (key, document) in enumerate(documents, start=items.last_number + 1):
        target = LogicalPartition(container, partition, key, items, _CHARGES, now_s)
        item, stored = target.stamped(document, number)
        rows.append((item, stored, unique_values(stored)))
        items.lsn += 1
    items.lsn -= 1  # the last used
    items.insert_many(rows)
