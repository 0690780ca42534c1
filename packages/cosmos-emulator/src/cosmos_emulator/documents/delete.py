"""Delete a document."""

from __future__ import annotations

from cosmos_emulator.documents.logical_partition import LogicalPartition, check_if_match
from cosmos_emulator.documents.read import ItemReference, ItemResult


def delete(partition: LogicalPartition, reference: ItemReference, if_match: str | None = None) -> ItemResult:
    """Delete an item (204). Raises 404, 412."""
    item = partition.find(reference)
    check_if_match(item, if_match)
    partition.items.delete(item)
    charge_ru = partition.charges.delete(
        item.document(), partition.container.definition.indexing, size_bytes=len(item.body)
    )
    return ItemResult(204, None, charge_ru)
