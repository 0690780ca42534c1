"""POST …/docs: create an item."""

from __future__ import annotations

from cosmos_emulator.documents.create import create
from cosmos_emulator.messages.answer import Answer
from cosmos_emulator.messages.request import Request
from cosmos_emulator.operations.item_requests import write_item


async def handle(request: Request) -> Answer:
    """Create the item in the body (201)."""
    return await write_item(request, "Create", request.json_object, create)
