"""One request as an operation sees it, and its answer; HTTP itself stays in server.py."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final
from urllib.parse import quote

from cosmos_emulator import json_text, rids
from cosmos_emulator.errors import OWNER_MISSING, CosmosError
from cosmos_emulator.gateway import Gateway
from cosmos_emulator.http import headers as h
from cosmos_emulator.http.links import Link
from cosmos_emulator.json_text import Json, JsonObject
from cosmos_emulator.partitioning.partition_keys import PartitionKey
from cosmos_emulator.store.account import Container
from cosmos_emulator.store.partition import Partition
from cosmos_emulator.store.resources import Resource

_DEFAULT_PAGE: Final = 100
_LARGEST_PAGE: Final = 2**31 - 1
RID_MISMATCH: Final = 1024
_HEADER_TEXT: Final = "".join(map(chr, range(0x20, 0x7F)))  # a header is ASCII; only other characters are encoded
NOT_FOUND: Final = "Resource Not Found. Learn more: https://aka.ms/cosmosdb-tsg-not-found"


@dataclass(slots=True)
class Answer:
    """What goes back. `charge_ru` is modelled; `headers` are those of the operation, beside the general ones."""

    status: int
    body: bytes = b""
    headers: dict[str, str] = field(default_factory=dict)
    charge_ru: float = 0.0


@dataclass(frozen=True, slots=True)
class Request:
    """`verb` is the HTTP method, `base_url` the scheme and host that the client used."""

    gateway: Gateway
    verb: str
    link: Link
    headers: Mapping[str, str]
    body: bytes
    base_url: str

    def flag(self, name: str) -> bool:
        """Whether a boolean header is true."""
        return h.flag(self.headers, name)

    def json_object(self) -> JsonObject:
        """The body; 400 when it is no JSON object."""
        return json_text.parse_object(self.body)

    @property
    def database(self) -> Resource:
        """The database that the link names or lies in; 404 when there is none."""
        resources, name = self.gateway.account.resources, self.link.ids[0]
        found = resources.find_rid("dbs", name) if self.link.by_rid else resources.find("dbs", "", name)
        if found is None:
            raise self._missing(level=1)
        return found

    @property
    def container(self) -> Container:
        """The container that the link names or lies in.

        404 when there is none, 400/1024 when it is another one than the client has cached under this name.
        """
        resources, name = self.gateway.account.resources, self.link.ids[1]
        if self.link.by_rid:
            found = resources.find_rid("colls", name)
            if found is not None and found.parent != self.link.ids[0]:
                found = None
        else:
            found = resources.find("colls", self.database.rid, name)
        if found is None:
            raise self._missing(level=2)
        intended = self.headers.get(h.INTENDED_RID)
        if intended and intended != found.rid:
            raise CosmosError(
                400, "The container was recreated: its rid is not the intended one.", sub_status=RID_MISMATCH
            )
        return self.gateway.account.container(found.rid)

    def resource(self, kind: str, parent: str) -> Resource:
        """The script, trigger, function or offer that ends the link; 404 when there is none."""
        resources, name = self.gateway.account.resources, self.link.ids[-1]
        found = resources.find(kind, parent, name) or resources.find_rid(kind, name)
        if found is None or found.parent != parent:
            raise CosmosError(404, NOT_FOUND)
        return found

    def partition_key(self, container: Container) -> PartitionKey:
        """The logical partition that the request names in full; 400 when it names none or a prefix."""
        key = self.optional_partition_key(container)
        if key is None:
            raise CosmosError(400, "PartitionKey value must be supplied for this operation.")
        if key.is_prefix:
            raise CosmosError(400, "The partition key must have a value for every path of the definition.")
        return key

    def optional_partition_key(self, container: Container) -> PartitionKey | None:
        """The logical partition of the header, or None without one."""
        text = self.headers.get(h.PARTITION_KEY)
        return None if text is None else container.definition.partition_key.of_header(text)

    @property
    def page_size(self) -> int:
        """How many rows a page may have: 100 when the client does not say, no bound for -1 (the server decides)."""
        text = self.headers.get(h.MAX_ITEM_COUNT, str(_DEFAULT_PAGE))
        try:
            count = int(text)
        except ValueError as error:
            raise CosmosError(400, f"The header {h.MAX_ITEM_COUNT} is no number: {text!r}.") from error
        if not (count == -1 or 0 < count <= _LARGEST_PAGE):
            raise CosmosError(400, f"The header {h.MAX_ITEM_COUNT} must be positive or -1, not {text}.")
        return _LARGEST_PAGE if count == -1 else count

    def _missing(self, level: int) -> CosmosError:
        owner = len(self.link.ids) > level or not self.link.names_one
        return CosmosError(404, NOT_FOUND, sub_status=OWNER_MISSING if owner else 0)


def resource_answer(status: int, resource: Resource, *, charge_ru: float = 1.0) -> Answer:
    """A database, container, script or offer with its etag; metadata requests are modelled as one RU."""
    return Answer(status, json_text.dump(resource.body), {h.ETAG: resource.etag}, charge_ru)


def feed_answer(
    rid: str, name: str, members: list[bytes], headers: dict[str, str], charge_ru: float, status: int = 200
) -> Answer:
    """`{"_rid", name: [...], "_count"}`, the members being JSON texts already."""
    body = b'{"_rid":"%b","%b":[%b],"_count":%d}' % (
        rid.encode(),
        name.encode(),
        b",".join(members),
        len(members),
    )
    return Answer(status, body, {h.ITEM_COUNT: str(len(members)), **headers}, charge_ru)


def partition_headers(container: Container, partition: Partition) -> dict[str, str]:
    """The headers from which a client keeps its session token and its routing cache.

    The token names the owner by `x-ms-alt-content-path`; without it azure-cosmos stores no token (_session.py).
    """
    lsn = partition.lsn
    return {
        h.SESSION_TOKEN: f"{partition.id}:-1#{lsn}",
        h.LSN: str(lsn),
        h.PARTITION_KEY_RANGE_ID: partition.id,
        h.ALT_CONTENT_PATH: _header_text(container.alt_link),
        h.CONTENT_PATH: container.rid,
    }


@lru_cache(maxsize=1024)
def _header_text(text: str) -> str:
    return quote(text, safe=_HEADER_TEXT)


def range_rid(container: Container, partition: Partition) -> str:
    """The `_rid` under which `pkranges` lists a partition."""
    return rids.child_rid(container.rid, rids.RANGE, partition.index)


def values(members: list[Json]) -> list[bytes]:
    """JSON texts of values."""
    return [json_text.dump(member) for member in members]
