"""Create a document or replace the existing one."""

from __future__ import annotations

from cosmos_emulator.documents.create import create
from cosmos_emulator.documents.logical_partition import LogicalPartition, check_if_match
from cosmos_emulator.documents.read import ItemResult
from cosmos_emulator.documents.replace import overwrite
from cosmos_emulator.json_text import JsonObject
from cosmos_emulator.vocabulary.names import checked_item_id


def upsert(partition: LogicalPartition, document: JsonObject, if_match: str | None = None) -> ItemResult:
    """Create (201) or replace (200) an item. Raises 412."""
    old = partition.items.get(partition.key, checked_item_id(document.get("id")))
    if old is None:
        return create(partition, document)
    check_if_match(old, if_match)
    return overwrite(partition, old, document)
