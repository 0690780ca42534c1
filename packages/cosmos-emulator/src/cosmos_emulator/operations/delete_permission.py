"""DELETE /dbs/{db}/users/{user}/permissions/{permission}."""

from __future__ import annotations

from cosmos_emulator.messages.answer import Answer
from cosmos_emulator.messages.request import Request
from cosmos_emulator.operations.resource_requests import check_if_match, user_of


async def handle(request: Request) -> Answer:
    """Delete a permission (204). Raises 404, 412."""
    permission = request.resource("permissions", user_of(request).rid)
    check_if_match(request, permission)
    request.gateway.account.resources.remove(permission)
    return Answer(204, charge_ru=1.0)
