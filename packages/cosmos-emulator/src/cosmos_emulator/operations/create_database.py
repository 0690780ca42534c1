"""POST /dbs."""

from __future__ import annotations

from cosmos_emulator.messages.answer import Answer, resource_answer
from cosmos_emulator.messages.request import Request
from cosmos_emulator.messages.throughput import offer_content
from cosmos_emulator.vocabulary.names import checked_name


async def handle(request: Request) -> Answer:
    """Create a database (201), with throughput if requested. Raises 409."""
    body = request.json_object()
    checked_name(body.get("id"))
    content = offer_content(request.headers)
    account = request.gateway.account
    database = account.add_database(body)
    if content is not None:
        account.add_offer(database, content)
    return resource_answer(201, database)
