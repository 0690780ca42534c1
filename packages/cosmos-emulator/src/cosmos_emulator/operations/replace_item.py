"""PUT …/docs/{id}: replace an item."""

from __future__ import annotations

from cosmos_emulator.documents.read import ItemReference
from cosmos_emulator.documents.replace import replace
from cosmos_emulator.messages import headers as h
from cosmos_emulator.messages.answer import Answer
from cosmos_emulator.messages.request import Request
from cosmos_emulator.operations.item_requests import write_item


async def handle(request: Request) -> Answer:
    """Replace the item in the link (200)."""
    reference, if_match = ItemReference.of_link(request.link), request.headers.get(h.IF_MATCH)
    return await write_item(
        request,
        "Replace",
        lambda: request.json_object() if request.body else {},  # a missing item fails first
        lambda partition, document: replace(partition, reference, document, if_match),
    )
