"""Create: a new document."""

from __future__ import annotations

from cosmos_emulator.documents.logical_partition import ItemResult, LogicalPartition
from cosmos_emulator.json_text import JsonObject


def create(partition: LogicalPartition, document: JsonObject) -> ItemResult:
    """201; 400 for an invalid document, 409 when its id or a unique value is taken."""
    item, stored = partition.add(document)
    definition = partition.container.definition
    charge_ru = partition.charges.create(
        stored, definition.indexing, size_bytes=len(item.body), unique_keys=len(definition.unique_keys)
    )
    return ItemResult(201, item, charge_ru)
