"""Delete."""

from __future__ import annotations

from cosmos_emulator.documents.logical_partition import ItemReference, ItemResult, LogicalPartition, check_if_match


def delete(partition: LogicalPartition, reference: ItemReference, if_match: str | None = None) -> ItemResult:
    """204; 404 without the item, 412 when it has changed."""
    item = partition.find(reference)
    check_if_match(item, if_match)
    partition.remove(item)
    charge_ru = partition.charges.delete(
        item.document(), partition.container.definition.indexing, size_bytes=len(item.body)
    )
    return ItemResult(204, None, charge_ru)
