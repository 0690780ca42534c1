"""DELETE /dbs/{db}."""

from __future__ import annotations

from local.cosmos.wire import Answer, Request


async def handle(request: Request) -> Answer:
    """204; its containers go with it."""
    await request.gateway.account.remove_database(request.database)
    return Answer(204, charge_ru=1.0)
