"""POST with a query on a feed of databases, containers, scripts, offers, users or permissions."""

from __future__ import annotations

from cosmos_emulator import json_text
from cosmos_emulator.messages.answer import Answer, feed_answer
from cosmos_emulator.messages.request import Request
from cosmos_emulator.operations.resource_requests import feed_members, feed_page, shown_body
from cosmos_emulator.reads.query_text import LONG_TEXT_BYTES, parse_query_body


async def handle(request: Request) -> Answer:
    """Return a page of rows; without `x-ms-max-item-count`, all. azure-cosmos finds offers with it."""
    owner, name, members = feed_members(request)
    bodies = {member.rid: dict(shown_body(request, member)) for member in members}

    def work() -> list[tuple[str, bytes]]:
        query = parse_query_body(request.body).compile(clock=request.gateway.settings.clock)
        # Independent rows stay in place if the resources of others are deleted.
        parts = {rid: [bodies[rid]] for rid in bodies} if query.is_streaming else {"": list(bodies.values())}
        rows = ((rid, number, row) for rid, part in parts.items() for number, row in enumerate(query.run(part)))
        return [(f"{rid} {number:08}", json_text.dump(row)) for rid, number, row in rows]

    rows = await request.gateway.run_anywhere(work, is_long=len(request.body) > LONG_TEXT_BYTES, reads=True)
    return feed_answer(owner, name, *feed_page(request, rows), charge_ru=1.0)
