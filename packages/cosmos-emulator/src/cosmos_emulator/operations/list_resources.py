"""GET on a feed of databases, containers, scripts, offers, users or permissions."""

from __future__ import annotations

from cosmos_emulator import json_text
from cosmos_emulator.messages.answer import Answer, feed_answer
from cosmos_emulator.messages.request import Request
from cosmos_emulator.operations.resource_requests import feed_members, feed_page, shown_body


async def handle(request: Request) -> Answer:
    """Return a page of resources; without `x-ms-max-item-count`, all."""
    owner, name, members = feed_members(request)
    rows = [(member.rid, json_text.dump(shown_body(request, member))) for member in members]
    return feed_answer(owner, name, *feed_page(request, rows), charge_ru=1.0)
