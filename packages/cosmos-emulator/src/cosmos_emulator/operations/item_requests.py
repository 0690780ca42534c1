"""Transaction, triggers and response of item operations."""

from __future__ import annotations

from collections.abc import Callable

from cosmos_emulator.documents.logical_partition import LogicalPartition
from cosmos_emulator.documents.read import ItemResult
from cosmos_emulator.documents.triggers import Triggers
from cosmos_emulator.errors import CosmosError
from cosmos_emulator.json_text import JsonObject
from cosmos_emulator.messages import headers as h
from cosmos_emulator.messages.answer import Answer, partition_headers, refusals_of
from cosmos_emulator.messages.request import Request
from cosmos_emulator.partitioning.partition_keys import PartitionKey
from cosmos_emulator.runtime.pacing import LARGE_BYTES, MovesToWorker
from cosmos_emulator.store.account import Container
from cosmos_emulator.store.items import ItemTransaction
from cosmos_emulator.store.partition import Partition

# A pre-trigger can have modified the document.
Write = Callable[[LogicalPartition, JsonObject], ItemResult]


def logical_partition(
    request: Request, container: Container, partition: Partition, key: PartitionKey, items: ItemTransaction
) -> LogicalPartition:
    """Return the request's logical partition."""
    gateway = request.gateway
    now_s = int(gateway.settings.clock())
    stores_links = not request.flag(h.EXCLUDE_SYSTEM_PROPERTIES)
    return LogicalPartition(container, partition, key, items, gateway.charges, now_s, stores_links=stores_links)


async def write_item(request: Request, kind: str, parse: Callable[[], JsonObject], operation: Write) -> Answer:
    """Run a write and its triggers in one transaction, in a worker thread if a document is large.

    `kind` is Create, Upsert, Replace, Patch or Delete. `parse` returns the document.
    """
    _check_indexing_directive(request)
    container = request.container
    key = request.partition_key(container)
    triggers = Triggers.of_request(request, container, kind)

    async def write(*, is_long: bool) -> Answer:
        partition = await container.writable_partition_of(key)
        reply: bytes | None = None
        with refusals_of(container, partition):
            async with partition.transaction() as items:
                target = logical_partition(request, container, partition, key, items)
                if triggers is None:
                    result = await request.gateway.run(lambda: operation(target, parse()), is_long=is_long)
                else:
                    fired = triggers
                    result, reply = await request.gateway.in_worker(lambda: fired.around(target, parse(), operation))
        return item_answer(request, container, partition, result, reply)

    try:
        return await write(is_long=len(request.body) >= LARGE_BYTES)
    except MovesToWorker:  # the transaction is rolled back
        return await write(is_long=True)


def _check_indexing_directive(request: Request) -> None:
    # azure-cosmos sends numbers (IndexingDirective in documents.py), other clients names. Queries find excluded items
    # too (azure-cosmos-dotnet-v3, GatewayTests.cs, ValidateIndexingDirectives), so no directive has an effect.
    directive = request.headers.get(h.INDEXING_DIRECTIVE, "Default")
    if directive.lower() not in ("default", "include", "exclude", "0", "1", "2"):
        raise CosmosError(400, f"The indexing directive {directive!r} is unknown; use Default, Include or Exclude.")


def item_answer(
    request: Request, container: Container, partition: Partition, result: ItemResult, reply: bytes | None
) -> Answer:
    """Return the stored item or a post-trigger's `reply`, unless the client wants no content."""
    headers = partition_headers(container, partition)
    if result.item is None:
        return Answer(result.status, b"", headers, result.charge_ru)
    headers[h.ETAG] = result.item.etag
    body = b""
    if not h.wants_no_content(request.headers):
        body = reply if reply is not None else result.item.body
    return Answer(result.status, body, headers, result.charge_ru)
