"""POST with a query on a feed of databases, containers, scripts, offers, users or permissions."""

from __future__ import annotations

from cosmos_emulator import json_text
from cosmos_emulator.messages.answer import Answer, feed_answer
from cosmos_emulator.messages.request import Request
from cosmos_emulator.operations.resource_requests import feed_members, shown_body
from cosmos_emulator.reads.query_text import LONG_TEXT_BYTES, parse_query_body


async def handle(request: Request) -> Answer:
    """Return all rows on one page. azure-cosmos finds offers with it."""
    owner, name, members = feed_members(request)
    bodies = [dict(shown_body(request, member)) for member in members]

    def work() -> list[bytes]:
        return [json_text.dump(row) for row in parse_query_body(request.body).compile().run(bodies)]

    rows = await request.gateway.run_anywhere(work, is_long=len(request.body) > LONG_TEXT_BYTES, reads=True)
    return feed_answer(owner, name, rows, {}, charge_ru=1.0)
