"""POST with a query on a feed of databases, containers, scripts or offers."""

from __future__ import annotations

from cosmos_emulator import json_text
from cosmos_emulator.http.messages import Answer, Request, feed_answer
from cosmos_emulator.http.resource_requests import feed_members
from cosmos_emulator.reads.query_text import parse_query_body


async def handle(request: Request) -> Answer:
    """Return all rows on one page. azure-cosmos finds offers with it."""
    owner, name, members = feed_members(request)
    query = parse_query_body(request.body).compile()
    rows = list(query.run([dict(member.body) for member in members]))
    return feed_answer(owner, name, [json_text.dump(row) for row in rows], {}, charge_ru=1.0)
