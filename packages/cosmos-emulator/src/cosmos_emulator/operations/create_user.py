"""POST /dbs/{db}/users."""

from __future__ import annotations

from cosmos_emulator.messages.answer import Answer, resource_answer
from cosmos_emulator.messages.request import Request
from cosmos_emulator.vocabulary.names import checked_name


async def handle(request: Request) -> Answer:
    """Create a user (201). Raises 409."""
    body = request.json_object()
    checked_name(body.get("id"))
    return resource_answer(201, request.gateway.account.add_user(request.database, body))
