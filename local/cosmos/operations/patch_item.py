"""PATCH …/docs/{id}: change parts of an item."""

from __future__ import annotations

from local.cosmos import headers as h
from local.cosmos import json_text
from local.cosmos.documents.patch import Patch, patch
from local.cosmos.item_request import item_reference, write_item
from local.cosmos.wire import Answer, Request


async def handle(request: Request) -> Answer:
    """Patches the item of the link."""
    changes = Patch.parse(json_text.parse(request.body))
    reference, if_match = item_reference(request), request.headers.get(h.IF_MATCH)
    return await write_item(
        request, "Patch", {}, lambda partition, _document: patch(partition, reference, changes, if_match)
    )
