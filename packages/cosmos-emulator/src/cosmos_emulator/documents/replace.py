"""Replace: a new document in the place of one that is there."""

from __future__ import annotations

from cosmos_emulator.documents.logical_partition import ItemReference, ItemResult, LogicalPartition, check_if_match
from cosmos_emulator.json_text import JsonObject
from cosmos_emulator.store.items import StoredItem


def replace(
    partition: LogicalPartition, reference: ItemReference, document: JsonObject, if_match: str | None = None
) -> ItemResult:
    """200; 404 without the item, 412 when it has changed, 400 for another key value, 409 for a taken new id."""
    old = partition.find(reference)
    check_if_match(old, if_match)
    return overwrite(partition, old, document)


def overwrite(partition: LogicalPartition, old: StoredItem, document: JsonObject) -> ItemResult:
    """Replaces an item that was found already."""
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
