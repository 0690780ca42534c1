"""Create a document."""

from __future__ import annotations

from cosmos_emulator.documents.logical_partition import LogicalPartition
from cosmos_emulator.documents.read import ItemResult
from cosmos_emulator.json_text import JsonObject


def create(partition: LogicalPartition, document: JsonObject) -> ItemResult:
    """Create a document (201). Raises 400, 409."""
    item, stored = partition.add(document)
    definition = partition.container.definition
    charge_ru = partition.charges.create(
        stored, definition.indexing, size_bytes=len(item.body), unique_keys=len(definition.unique_keys)
    )
    return ItemResult(201, item, charge_ru)
