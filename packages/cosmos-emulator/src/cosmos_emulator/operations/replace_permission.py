"""PUT /dbs/{db}/users/{user}/permissions/{permission}."""

from __future__ import annotations

from cosmos_emulator.messages.answer import Answer
from cosmos_emulator.messages.request import Request
from cosmos_emulator.operations.create_permission import checked_permission, permission_answer
from cosmos_emulator.operations.resource_requests import check_if_match, user_of


async def handle(request: Request) -> Answer:
    """Replace a permission, also its name (200). Raises 400, 404, 409, 412."""
    user = user_of(request)
    permission = request.resource("permissions", user.rid)
    check_if_match(request, permission)
    request.gateway.account.replace(permission, checked_permission(request, user, permission))
    return permission_answer(request, 200, permission)
