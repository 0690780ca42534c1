"""A single request on an item: its transaction, its triggers, its answer."""

from __future__ import annotations

from collections.abc import Callable

from cosmos_emulator.documents.logical_partition import ItemReference, ItemResult, LogicalPartition
from cosmos_emulator.documents.triggers import Triggers
from cosmos_emulator.errors import CosmosError
from cosmos_emulator.http import headers as h
from cosmos_emulator.http.messages import Answer, Request, partition_headers
from cosmos_emulator.json_text import JsonObject
from cosmos_emulator.partitioning.partition_keys import PartitionKey
from cosmos_emulator.store.account import Container
from cosmos_emulator.store.items import ItemTransaction
from cosmos_emulator.store.partition import Partition

# An operation on the document of the request, which a pre-trigger may have changed.
Operation = Callable[[LogicalPartition, JsonObject], ItemResult]


def item_reference(request: Request) -> ItemReference:
    """The item that the link of the request names."""
    return ItemReference.of_link(request.link)


def logical_partition(
    request: Request, container: Container, partition: Partition, key: PartitionKey, items: ItemTransaction
) -> LogicalPartition:
    """The partition that a request works on, at the time of the request."""
    gateway = request.gateway
    now_s = int(gateway.settings.clock())
    return LogicalPartition(container, partition, key, items, gateway.charges, now_s)


async def write_item(request: Request, kind: str, document: JsonObject, operation: Operation) -> Answer:
    """Runs a write, and the triggers that the request names around it, in one transaction.

    `kind` is Create, Upsert, Replace, Patch or Delete: what triggers are made for.
    """
    _check_indexing_directive(request)
    container = request.container
    key = request.partition_key(container)
    triggers = Triggers.of_request(request, container, kind)
    partition = container.partition_of(key)
    reply: bytes | None = None
    async with partition.transaction() as items:
        target = logical_partition(request, container, partition, key, items)
        if triggers is None:
            result = operation(target, document)
        else:
            fired = triggers
            result, reply = await request.gateway.in_worker(lambda: fired.around(target, document, operation))
    return item_answer(request, container, partition, result, reply)


def _check_indexing_directive(request: Request) -> None:
    """400 for an item that is to be left out of the index: a query would find it here all the same.

    azure-cosmos sends the numbers of its IndexingDirective (documents.py), other clients the names.
    """
    directive = request.headers.get(h.INDEXING_DIRECTIVE, "Default")
    if directive.lower() not in ("default", "include", "0", "2"):
        raise CosmosError(400, f"The indexing directive {directive!r} is not supported by this emulator.")


def item_answer(
    request: Request, container: Container, partition: Partition, result: ItemResult, reply: bytes | None = None
) -> Answer:
    """The item as it is stored (`reply` in its place from a post-trigger), or nothing when the client wants none."""
    headers = partition_headers(container, partition)
    if result.item is None:
        return Answer(result.status, b"", headers, result.charge_ru)
    headers[h.ETAG] = result.item.etag
    body = b""
    if not h.wants_no_content(request.headers):
        body = reply if reply is not None else result.item.body
    return Answer(result.status, body, headers, result.charge_ru)
