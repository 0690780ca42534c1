"""Bulk import, which validates and stores each item like a create.

A transaction writes thousands of items. Each has its own LSN, so a change feed page can end after any.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from itertools import islice
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

_AT_ONCE: Final = 20_000  # lines
_CHARGES: Final = ChargeModel("service-2026")  # unused: imports are not charged

_Row = tuple[StoredItem, JsonObject, list[str]]


async def import_items(container: Container, lines: Iterable[bytes], clock: Clock) -> int:
    """Create an item for each line of JSON, skipping empty lines; return their number.

    Raises 400 and 409 like a create. Earlier transactions are kept.
    """
    count = 0
    remaining = (line for line in lines if line.strip())
    while batch := list(islice(remaining, _AT_ONCE)):
        for partition, documents in _by_partition(container, batch, count + 1):
            async with partition.transaction() as items:
                await asyncio.to_thread(_insert, container, partition, items, documents, int(clock()))
        count += len(batch)
    return count


def _by_partition(
    container: Container, batch: list[bytes], first: int
) -> list[tuple[Partition, list[tuple[PartitionKey, JsonObject]]]]:
    found: dict[Partition, list[tuple[PartitionKey, JsonObject]]] = {}
    keys = container.definition.partition_key
    for number, line in enumerate(batch, start=first):
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
