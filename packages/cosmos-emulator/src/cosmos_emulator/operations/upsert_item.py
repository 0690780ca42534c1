"""POST …/docs with `x-ms-documentdb-is-upsert`: create or replace an item."""

from __future__ import annotations

from cosmos_emulator.documents.upsert import upsert
from cosmos_emulator.messages import headers as h
from cosmos_emulator.messages.answer import Answer
from cosmos_emulator.messages.request import Request
from cosmos_emulator.operations.item_requests import write_item


async def handle(request: Request) -> Answer:
    """Create (201) or replace (200) the item in the body."""
    if_match = request.headers.get(h.IF_MATCH)
    return await write_item(
        request,
        "Upsert",
        request.json_object,
        lambda partition, document: upsert(partition, document, if_match),
    )
