"""DELETE /dbs/{db}/users/{user}."""

from __future__ import annotations

from cosmos_emulator.messages.answer import Answer
from cosmos_emulator.messages.request import Request
from cosmos_emulator.operations.resource_requests import check_if_match


async def handle(request: Request) -> Answer:
    """Delete a user with its permissions (204). Raises 404, 412."""
    user = request.resource("users", request.database.rid)
    check_if_match(request, user)
    request.gateway.account.remove_user(user)
    return Answer(204, charge_ru=1.0)
