"""DELETE /dbs/{db}/colls/{coll}."""

from __future__ import annotations

from cosmos_emulator.errors import CosmosError
from cosmos_emulator.messages.answer import Answer
from cosmos_emulator.messages.request import Request
from cosmos_emulator.operations.resource_requests import check_if_match


async def handle(request: Request) -> Answer:
    """Delete a container with its items, scripts and throughput (204). Raises 412, and 400 if indexes follow it."""
    container = request.container
    check_if_match(request, container.resource)
    account = request.gateway.account
    if indexes := account.indexes_of(container):
        names = ", ".join(one.resource.id for one in indexes)
        raise CosmosError(400, f"Delete the global secondary indexes of the container first: {names}.")
    await account.remove_container(container)
    return Answer(204, charge_ru=1.0)
