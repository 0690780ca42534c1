"""DELETE /dbs/{db}/colls/{coll}."""

from __future__ import annotations

from cosmos_emulator.messages.answer import Answer
from cosmos_emulator.messages.request import Request
from cosmos_emulator.operations.resource_requests import check_if_match


async def handle(request: Request) -> Answer:
    """Delete a container with its items, scripts and throughput (204). Raises 412."""
    container = request.container
    check_if_match(request, container.resource)
    await request.gateway.account.remove_container(container)
    return Answer(204, charge_ru=1.0)
