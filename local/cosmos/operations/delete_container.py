"""DELETE /dbs/{db}/colls/{coll}."""

from __future__ import annotations

from local.cosmos.wire import Answer, Request


async def handle(request: Request) -> Answer:
    """204; its items, scripts and throughput go with it."""
    await request.gateway.account.remove_container(request.container)
    return Answer(204, charge_ru=1.0)
