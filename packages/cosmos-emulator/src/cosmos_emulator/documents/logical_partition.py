"""A logical partition within a transaction, the target of document operations."""

from __future__ import annotations

from typing import Final

from cosmos_emulator import json_text
from cosmos_emulator.charges import ChargeModel
from cosmos_emulator.definitions import rids
from cosmos_emulator.definitions.container import checked_ttl
from cosmos_emulator.documents.read import ItemReference, find_item
from cosmos_emulator.errors import CosmosError
from cosmos_emulator.json_text import JsonObject
from cosmos_emulator.partitioning.partition_keys import KEY_MISMATCH, PartitionKey
from cosmos_emulator.store.account import Container
from cosmos_emulator.store.expiry import expiry
from cosmos_emulator.store.items import ItemTransaction, StoredItem
from cosmos_emulator.store.partition import Partition
from cosmos_emulator.vocabulary.names import checked_item_id

MAX_ITEM_BYTES: Final = 2 * 1024 * 1024
SYSTEM_PROPERTIES: Final = ("_rid", "_self", "_etag", "_attachments", "_ts", "_lsn")


class LogicalPartition:
    """One partition key value, in a transaction of its physical partition."""

    def __init__(
        self,
        container: Container,
        partition: Partition,
        key: PartitionKey,
        items: ItemTransaction,
        charges: ChargeModel,
        now_s: int,
        *,
        stores_links: bool = True,
    ) -> None:
        self.container = container
        self.partition = partition
        self.key = key
        self.items = items
        self.charges = charges
        self.now_s = now_s
        self._stores_links = stores_links

    def find(self, reference: ItemReference) -> StoredItem:
        """Return an item. Raises 404."""
        return find_item(self.items, self.key, reference)

    def add(self, document: JsonObject) -> tuple[StoredItem, JsonObject]:
        """Store a new document. Raises 400, 409."""
        self._check_key(document)
        item, stored = self.stamped(document, self.items.last_number + 1)
        self.items.insert(item, stored, self.container.definition.unique_values(stored))
        return item, stored

    def overwrite(self, old: StoredItem, document: JsonObject) -> tuple[StoredItem, JsonObject]:
        """Replace `old` with a document, keeping the rid. Raises 400, 409."""
        self._check_key(document)
        item, stored = self.stamped(document, old.number)
        self.items.update(old, item, stored, self.container.definition.unique_values(stored))
        return item, stored

    def stamped(self, document: JsonObject, number: int) -> tuple[StoredItem, JsonObject]:
        """Return item and document with system properties. Raises 400, 413.

        The caller has checked the partition key.
        """
        own = {name: value for name, value in document.items() if name not in SYSTEM_PROPERTIES}
        item_id = checked_item_id(own.get("id"))
        ttl = checked_ttl(own["ttl"], "ttl") if "ttl" in own else None
        rid = rids.child_rid(self.container.rid, rids.DOCUMENT, number)
        etag = self._next_etag()
        stored: JsonObject = {
            **own,
            "_rid": rid,
            "_self": f"{self.container.self_link}docs/{rid}/",
            "_etag": etag,
            "_attachments": "attachments/",
            "_ts": self.now_s,
        }
        if not self._stores_links:
            del stored["_self"], stored["_attachments"]
        body = json_text.dump(stored)
        if len(body) > MAX_ITEM_BYTES:
            raise CosmosError(413, "Request size is too large: the maximum size of an item is 2 MB.")
        item = StoredItem(
            number=number,
            epk=self.key.epk,
            key=self.key.text,
            id=item_id,
            body=body,
            etag=etag,
            timestamp=self.now_s,
            lsn=self.items.lsn,
            ttl=ttl,
            expires_at=expiry(self.now_s, ttl, self.container.definition.default_ttl_s),
        )
        return item, stored

    def _check_key(self, document: JsonObject) -> None:
        if self.container.definition.partition_key.of_document(document).text != self.key.text:
            raise CosmosError(
                400,
                "PartitionKey extracted from document doesn't match the one specified in the header. "
                "Learn more: https://aka.ms/CosmosDB/sql/errors/wrong-pk-value",
                sub_status=KEY_MISMATCH,
            )

    def _next_etag(self) -> str:
        # LSN, partition index and etag count are unique in the container; the time distinguishes restarts.
        items = self.items
        items.etags += 1
        lsn = f"{items.lsn & 0xFFFFFFFF:08x}-{items.lsn >> 32 & 0xFFFF:04x}"
        return f'"{lsn}-{self.partition.index:04x}-{items.etags:04x}-{self.now_s:08x}0000"'


def check_if_match(item: StoredItem, if_match: str | None) -> None:
    """Raise 412 unless `if_match` is absent, `*` or the item's etag, with or without quotes."""
    if if_match and if_match != "*" and if_match.strip('"') != item.etag.strip('"'):
        raise CosmosError(
            412,
            "One of the specified pre-condition is not met. "
            "Learn more: https://aka.ms/CosmosDB/sql/errors/precondition-failed",
        )
