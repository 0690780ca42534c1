"""POST …/docs with `x-ms-documentdb-is-upsert`: an item, new or in the place of the one with its id."""

from __future__ import annotations

from local.cosmos import headers as h
from local.cosmos.documents.upsert import upsert
from local.cosmos.item_request import write_item
from local.cosmos.wire import Answer, Request


async def handle(request: Request) -> Answer:
    """Creates or replaces the item of the body."""
    if_match = request.headers.get(h.IF_MATCH)
    return await write_item(
        request,
        "Upsert",
        request.json_object(),
        lambda partition, document: upsert(partition, document, if_match),
    )
