"""POST /dbs/{db}/users with `x-ms-documentdb-is-upsert`."""

from __future__ import annotations

from cosmos_emulator.messages.answer import Answer, resource_answer
from cosmos_emulator.messages.request import Request
from cosmos_emulator.operations import create_user
from cosmos_emulator.vocabulary.names import checked_name


async def handle(request: Request) -> Answer:
    """Create (201) or replace (200) the user of this name."""
    body, account = request.json_object(), request.gateway.account
    present = account.resources.find("users", request.database.rid, checked_name(body.get("id")))
    if present is None:
        return await create_user.handle(request)
    account.replace(present, body)
    return resource_answer(200, present)
