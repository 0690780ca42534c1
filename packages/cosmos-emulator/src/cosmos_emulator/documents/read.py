"""Point read: an item of a logical partition, by its id or rid."""

from __future__ import annotations

from dataclasses import dataclass

from cosmos_emulator.charges import ChargeModel
from cosmos_emulator.definitions import rids
from cosmos_emulator.errors import CosmosError
from cosmos_emulator.messages.links import Link
from cosmos_emulator.messages.request import NOT_FOUND
from cosmos_emulator.partitioning.partition_keys import PartitionKey
from cosmos_emulator.store.items import ItemView, StoredItem


@dataclass(frozen=True, slots=True)
class ItemReference:
    """An item by its id or, in a rid link, by its rid's number."""

    id: str = ""
    number: int | None = None

    @classmethod
    def of_link(cls, link: Link) -> ItemReference:
        """Parse a link. A rid of another type or container becomes -1, which matches no item.

        So does an id with a slash or backslash: the service does not find it in a path.
        """
        _, container, *_, item = link.ids
        if not link.by_rid:
            return cls(number=-1) if "/" in item or "\\" in item else cls(item)
        number = rids.child_number(item, rids.DOCUMENT) if rids.is_within(item, container) else None
        return cls(number=-1 if number is None else number)


@dataclass(frozen=True, slots=True)
class ItemResult:
    """Status, stored item (None if deleted) and modeled charge of an operation."""

    status: int
    item: StoredItem | None
    charge_ru: float


def find_item(items: ItemView, key: PartitionKey, reference: ItemReference) -> StoredItem:
    """Return an item of a logical partition. Raises 404."""
    number = reference.number
    found = items.get(key, reference.id) if number is None else items.get_by_number(key, number)
    if found is None:
        raise CosmosError(404, NOT_FOUND)
    return found


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
