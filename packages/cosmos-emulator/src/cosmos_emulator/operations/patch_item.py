"""PATCH …/docs/{id}: partially update an item."""

from __future__ import annotations

from cosmos_emulator import json_text
from cosmos_emulator.documents.patch import Patch, patch
from cosmos_emulator.documents.read import ItemReference
from cosmos_emulator.messages import headers as h
from cosmos_emulator.messages.answer import Answer
from cosmos_emulator.messages.request import Request
from cosmos_emulator.operations.item_requests import write_item
from cosmos_emulator.reads.query_text import LONG_TEXT_BYTES


async def handle(request: Request) -> Answer:
    """Patch the item in the link (200)."""
    changes = await request.gateway.run_anywhere(
        lambda: Patch.parse(json_text.parse(request.body), request.gateway.settings.clock),
        is_long=len(request.body) > LONG_TEXT_BYTES,
    )
    reference, if_match = ItemReference.of_link(request.link), request.headers.get(h.IF_MATCH)
    return await write_item(
        request, "Patch", dict, lambda partition, _document: patch(partition, reference, changes, if_match)
    )
