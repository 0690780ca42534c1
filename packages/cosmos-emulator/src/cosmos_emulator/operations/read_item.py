"""GET …/docs/{id}: a point read."""

from __future__ import annotations

from cosmos_emulator import json_text
from cosmos_emulator.documents.read import ItemReference, read
from cosmos_emulator.messages import headers as h
from cosmos_emulator.messages.answer import Answer, partition_headers, refusals_of
from cosmos_emulator.messages.request import Request
from cosmos_emulator.messages.scope import at_replicas
from cosmos_emulator.reads.slices import slices_of_key
from cosmos_emulator.store.account import Container
from cosmos_emulator.store.items import StoredItem


async def handle(request: Request) -> Answer:
    """Return the item in the link (200), or 304 if unchanged."""
    container = request.container
    key = request.partition_key(container)
    (target,) = at_replicas(request, slices_of_key(container, key))
    lsn = target.lsn
    reference, if_none_match = ItemReference.of_link(request.link), request.headers.get(h.IF_NONE_MATCH)
    with refusals_of(container, target.partition, lsn):
        result = read(target.items, key, reference, request.gateway.charges, if_none_match)
    headers = partition_headers(container, target.partition, lsn)
    if result.item is None or result.status == 304:
        return Answer(result.status, b"", headers, result.charge_ru)
    headers |= {h.ETAG: result.item.etag, h.ITEM_LSN: str(result.item.lsn)}
    body = result.item.body if request.flag(h.EXCLUDE_SYSTEM_PROPERTIES) else _with_links(result.item, container)
    return Answer(result.status, body, headers, result.charge_ru)


def _with_links(item: StoredItem, container: Container) -> bytes:
    """Return the body with `_self` and `_attachments`, also if the item was written without them.

    Source: azure-cosmos-dotnet-v3, HeadersValidationTests.cs. Queries and feeds return the item as it was written.
    """
    if item.body.endswith(b'"_attachments":"attachments/","_ts":%d}' % item.timestamp):
        return item.body
    document = json_text.parse_stored(item.body)
    return json_text.dump(
        {**document, "_self": f"{container.self_link}docs/{document['_rid']}/", "_attachments": "attachments/"}
    )
