"""The `Answer` of an operation."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final
from urllib.parse import quote

from cosmos_emulator import json_text
from cosmos_emulator.errors import CosmosError
from cosmos_emulator.json_text import JsonObject
from cosmos_emulator.messages import headers as h
from cosmos_emulator.reads.slices import Slice
from cosmos_emulator.store.account import Container
from cosmos_emulator.store.partition import Partition
from cosmos_emulator.store.resources import Resource

_HEADER_TEXT: Final = "".join(map(chr, range(0x20, 0x7F)))  # ASCII; others are percent-encoded


@dataclass(slots=True)
class Answer:
    """The result of an operation, with additional `headers`.

    `names_owner` is whether clients get the container's rid: not with a 404 (azure-sdk-for-java,
    TransactionalBatchTest.java, batchErrorSessionToken).
    """

    status: int
    body: bytes = b""
    headers: dict[str, str] = field(default_factory=dict)
    charge_ru: float = 0.0
    names_owner: bool = True


def resource_answer(
    status: int, resource: Resource, *, charge_ru: float = 1.0, body: JsonObject | None = None
) -> Answer:
    """Return a resource, or this `body`, with its etag; metadata requests are modeled as 1 RU."""
    text = json_text.dump(resource.body if body is None else body)
    return Answer(status, text, {h.ETAG: resource.etag}, charge_ru)


def feed_answer(
    rid: str, name: str, members: list[bytes], headers: dict[str, str], charge_ru: float, status: int = 200
) -> Answer:
    """Return `{"_rid", name: [...], "_count"}`; each member is JSON text."""
    body = b'{"_rid":"%b","%b":[%b],"_count":%d}' % (
        rid.encode(),
        name.encode(),
        b",".join(members),
        len(members),
    )
    return Answer(status, body, {h.ITEM_COUNT: str(len(members)), **headers}, charge_ru)


def partition_headers(container: Container, partition: Partition, served_lsn: int | None = None) -> dict[str, str]:
    """Return the headers that update a client's session token and routing cache.

    `served_lsn` is the LSN of the state that a read saw, unless it was current. azure-cosmos stores the token only with
    `x-ms-alt-content-path` (_session.py). Each partition has four replicas (learn.microsoft.com/rest/api/cosmos-db).
    """
    lsn = partition.lsn if served_lsn is None else served_lsn
    return {
        h.SESSION_TOKEN: f"{partition.id}:{partition.session_version}#{lsn}",
        h.LSN: str(lsn),
        h.PARTITION_KEY_RANGE_ID: partition.id,
        h.PARTITIONS: partition.id,
        h.ALT_CONTENT_PATH: header_text(container.alt_link),
        h.CONTENT_PATH: container.rid,
        h.CURRENT_WRITE_QUORUM: "3",
        h.CURRENT_REPLICA_SET_SIZE: "4",
    }


@contextmanager
def refusals_of(container: Container, partition: Partition, served_lsn: int | None = None) -> Iterator[None]:
    """Add the session token to the responses with which .NET updates a session: 404, 409 and 412.

    Source: azure-cosmos-dotnet-v3, GatewayStoreModel.cs, CaptureSessionTokenAndHandleSplitAsync.
    """
    try:
        yield
    except CosmosError as error:
        if error.status in (404, 409, 412):
            error.headers = partition_headers(container, partition, served_lsn)
        raise


def slices_headers(container: Container, slices: list[Slice]) -> dict[str, str]:
    """Return the headers of the first slice's partition, with the ids of all partitions.

    A page of the service is of one partition: .NET and Java fail on several session tokens (SessionContainer.java).
    """
    headers = partition_headers(container, slices[0].partition, slices[0].lsn)
    headers[h.PARTITIONS] = ",".join(one.partition.id for one in slices)
    return headers


@lru_cache(maxsize=1024)
def header_text(text: str) -> str:
    """Return a text as a header can have it."""
    return quote(text, safe=_HEADER_TEXT)
