"""DELETE …/docs/{id}."""

from __future__ import annotations

from local.cosmos import headers as h
from local.cosmos.documents.delete import delete
from local.cosmos.item_request import item_reference, write_item
from local.cosmos.wire import Answer, Request


async def handle(request: Request) -> Answer:
    """Deletes the item of the link."""
    reference, if_match = item_reference(request), request.headers.get(h.IF_MATCH)
    return await write_item(request, "Delete", {}, lambda partition, _document: delete(partition, reference, if_match))
