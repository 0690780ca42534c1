"""GET on a feed of databases, containers, scripts or offers."""

from __future__ import annotations

from cosmos_emulator import json_text
from cosmos_emulator.http.messages import Answer, Request, feed_answer
from cosmos_emulator.http.resource_requests import feed_members


async def handle(request: Request) -> Answer:
    """Return all resources on one page."""
    owner, name, members = feed_members(request)
    return feed_answer(owner, name, [json_text.dump(member.body) for member in members], {}, charge_ru=1.0)
