"""DELETE …/docs/{id}."""

from __future__ import annotations

from cosmos_emulator.documents.delete import delete
from cosmos_emulator.documents.read import ItemReference
from cosmos_emulator.messages import headers as h
from cosmos_emulator.messages.answer import Answer
from cosmos_emulator.messages.request import Request
from cosmos_emulator.operations.item_requests import write_item


async def handle(request: Request) -> Answer:
    """Delete the item in the link (204)."""
    reference, if_match = ItemReference.of_link(request.link), request.headers.get(h.IF_MATCH)
    return await write_item(
        request, "Delete", dict, lambda partition, _document: delete(partition, reference, if_match)
    )
