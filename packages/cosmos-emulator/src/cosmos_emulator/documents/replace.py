"""Replace a document."""

from __future__ import annotations

from cosmos_emulator.documents.logical_partition import LogicalPartition, check_if_match
from cosmos_emulator.documents.read import ItemReference, ItemResult
from cosmos_emulator.json_text import JsonObject
from cosmos_emulator.store.items import StoredItem


def replace(
    partition: LogicalPartition, reference: ItemReference, document: JsonObject, if_match: str | None = None
) -> ItemResult:
    """Replace an item (200). Raises 404, 409, 412, and 400 if the partition key differs."""
    old = partition.find(reference)
    check_if_match(old, if_match)
    return overwrite(partition, old, document)


def overwrite(partition: LogicalPartition, old: StoredItem, document: JsonObject) -> ItemResult:
    """Replace an item that has been read (200)."""
    old_document = old.document()
    item, stored = partition.overwrite(old, document)
    charge_ru = partition.charges.replace(
        old_document,
        stored,
        partition.container.definition.indexing,
        old_size_bytes=len(old.body),
        new_size_bytes=len(item.body),
    )
    return ItemResult(200, item, charge_ru)
