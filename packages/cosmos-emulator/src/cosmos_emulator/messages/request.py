"""The request of an operation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from cosmos_emulator import json_text
from cosmos_emulator.errors import OWNER_MISSING, CosmosError
from cosmos_emulator.gateway import Gateway
from cosmos_emulator.json_text import JsonObject
from cosmos_emulator.messages import headers as h
from cosmos_emulator.messages.links import Link
from cosmos_emulator.partitioning.partition_keys import KEY_MISMATCH, KEY_UNLIKE_DEFINITION, PartitionKey, key_of_header
from cosmos_emulator.reads.unfinished import UnfinishedQueries
from cosmos_emulator.store.account import Account, Container
from cosmos_emulator.store.resources import Resource
from cosmos_emulator.vocabulary.consistency import ConsistencyLevel

_DEFAULT_PAGE: Final = 100
_LARGEST_PAGE: Final = 2**31 - 1
RID_MISMATCH: Final = 1024
NOT_FOUND: Final = "Resource Not Found. Learn more: https://aka.ms/cosmosdb-tsg-not-found"


@dataclass(slots=True)
class Request:
    """A request; `verb` is the HTTP method, `base_url` the client's scheme and host."""

    gateway: Gateway
    unfinished: UnfinishedQueries
    verb: str
    link: Link
    headers: Mapping[str, str]
    base_url: str
    consistency: ConsistencyLevel
    body: bytes = b""
    _found: tuple[Account, Container] | None = None

    def flag(self, name: str) -> bool:
        """Return whether a boolean header is `True` or `true`."""
        return self.headers.get(name, "").lower() == "true"

    def json_object(self) -> JsonObject:
        """Parse the body. Raises 400 unless it is a JSON object."""
        return json_text.parse_object(self.body)

    @property
    def database(self) -> Resource:
        """The database of the link. Raises 404."""
        resources, name = self.gateway.account.resources, self.link.ids[0]
        found = resources.find_rid("dbs", name) if self.link.by_rid else resources.find("dbs", "", name)
        if found is None:
            raise self._missing(level=1)
        return found

    @property
    def container(self) -> Container:
        """The container of the link. Raises 404, or 400/1024 if the client has cached a deleted one of this name."""
        account = self.gateway.account
        if self._found is not None and self._found[0] is account and not self._found[1].is_closed:
            return self._found[1]
        found = account.find_container(self.link.ids[:2], by_rid=self.link.by_rid)
        if found is None:
            lacks_database = not self.link.by_rid and account.resources.find("dbs", "", self.link.ids[0]) is None
            raise self._missing(level=1 if lacks_database else 2)
        intended = self.headers.get(h.INTENDED_RID)
        if intended and intended != found.rid:
            raise CosmosError(
                400, "The container was recreated: its rid is not the intended one.", sub_status=RID_MISMATCH
            )
        self._found = account, found
        return found

    def resource(self, kind: str, parent: str) -> Resource:
        """Return the script, offer, user or permission of the link. Raises 404."""
        resources, name = self.gateway.account.resources, self.link.ids[-1]
        found = resources.find(kind, parent, name) or resources.find_rid(kind, name)
        if found is None or found.parent != parent:
            raise CosmosError(404, NOT_FOUND)
        return found

    def partition_key(self, container: Container) -> PartitionKey:
        """Return the partition key. Raises 400 if it is missing or a prefix."""
        key = self.optional_partition_key(container)
        if key is None and (definition := container.definition.partition_key).is_system:
            key = key_of_header(definition, "[]")  # of an item without a partition key
        if key is None:
            raise CosmosError(400, "PartitionKey value must be supplied for this operation.")
        if key.is_prefix:
            raise CosmosError(400, f"{KEY_UNLIKE_DEFINITION} Every path must have a value.", sub_status=KEY_MISMATCH)
        return key

    def optional_partition_key(self, container: Container) -> PartitionKey | None:
        """Return the partition key of the header, if any."""
        text = self.headers.get(h.PARTITION_KEY)
        # The Go SDK sends [] with every query across partitions (azcosmos.NewPartitionKey()).
        if text is None or (text == "[]" and self.flag(h.CROSS_PARTITION)):
            return None
        return key_of_header(container.definition.partition_key, text)

    @property
    def owner_path(self) -> str:
        """The path by names of the owner of the resource or feed in the link; empty for the account."""
        find = self.gateway.account.resources.find_rid
        owners = zip(self.link.kinds[:-1], self.link.ids, strict=False)
        found = ((kind, find(kind, name) if self.link.by_rid else None, name) for kind, name in owners)
        return "/".join(f"{kind}/{name if one is None else one.id}" for kind, one, name in found)

    @property
    def page_size(self) -> int:
        """The maximum rows in a page: 100 by default, unlimited for -1."""
        text = self.headers.get(h.MAX_ITEM_COUNT, str(_DEFAULT_PAGE))
        try:
            count = int(text)
        except ValueError as error:
            raise CosmosError(400, f"The header {h.MAX_ITEM_COUNT} must be a number, not {text!r}.") from error
        if not (count == -1 or 0 < count <= _LARGEST_PAGE):
            raise CosmosError(400, f"The header {h.MAX_ITEM_COUNT} must be positive or -1, not {text}.")
        return _LARGEST_PAGE if count == -1 else count

    def _missing(self, level: int) -> CosmosError:
        owner = len(self.link.ids) > level or not self.link.names_one
        return CosmosError(404, NOT_FOUND, sub_status=OWNER_MISSING if owner else 0)
