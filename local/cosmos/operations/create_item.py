"""POST …/docs: a new item."""

from __future__ import annotations

from local.cosmos.documents.create import create
from local.cosmos.item_request import write_item
from local.cosmos.wire import Answer, Request


async def handle(request: Request) -> Answer:
    """Creates the item of the body."""
    return await write_item(request, "Create", request.json_object(), create)
