"""PUT /dbs/{db}/users/{user}."""

from __future__ import annotations

from cosmos_emulator.messages.answer import Answer, resource_answer
from cosmos_emulator.messages.request import Request
from cosmos_emulator.operations.resource_requests import check_if_match
from cosmos_emulator.vocabulary.names import checked_name


async def handle(request: Request) -> Answer:
    """Replace a user, also its name (200). Raises 404, 409, 412."""
    user = request.resource("users", request.database.rid)
    check_if_match(request, user)
    body = request.json_object()
    checked_name(body.get("id"))
    request.gateway.account.replace(user, body)
    return resource_answer(200, user)
