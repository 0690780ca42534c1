"""DELETE /dbs/{db}."""

from __future__ import annotations

from cosmos_emulator.messages.answer import Answer
from cosmos_emulator.messages.request import Request
from cosmos_emulator.operations.resource_requests import check_if_match


async def handle(request: Request) -> Answer:
    """Delete a database with its containers (204). Raises 412."""
    database = request.database
    check_if_match(request, database)
    await request.gateway.account.remove_database(database)
    return Answer(204, charge_ru=1.0)
