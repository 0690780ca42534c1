"""Point read."""

from __future__ import annotations

from cosmos_emulator.charges import ChargeModel
from cosmos_emulator.documents.logical_partition import ItemReference, ItemResult, find_item
from cosmos_emulator.partitioning.partition_keys import PartitionKey
from cosmos_emulator.store.items import ItemView


def read(
    items: ItemView,
    key: PartitionKey,
    reference: ItemReference,
    charges: ChargeModel,
    if_none_match: str | None = None,
) -> ItemResult:
    """Read an item (200, or 304 if unchanged). Raises 404."""
    item = find_item(items, key, reference)
    charge_ru = charges.point_read(len(item.body))
    unchanged = if_none_match is not None and if_none_match.strip('"') in ("*", item.etag.strip('"'))
    return ItemResult(304 if unchanged else 200, item, charge_ru)
