"""POST /dbs/{db}/users/{user}/permissions with `x-ms-documentdb-is-upsert`."""

from __future__ import annotations

from cosmos_emulator.messages.answer import Answer
from cosmos_emulator.messages.request import Request
from cosmos_emulator.operations.create_permission import checked_permission, permission_answer
from cosmos_emulator.operations.create_permission import handle as create
from cosmos_emulator.operations.resource_requests import user_of


async def handle(request: Request) -> Answer:
    """Create (201) or replace (200) the permission of this name."""
    user, account = user_of(request), request.gateway.account
    present = account.resources.find("permissions", user.rid, str(request.json_object().get("id")))
    if present is None:
        return await create(request)
    account.replace(present, checked_permission(request, user, present))
    return permission_answer(request, 200, present)
