"""PUT /dbs/{db}/colls/{coll}: change the indexing policy or the default time to live."""

from __future__ import annotations

from typing import Final

from cosmos_emulator.container_definition import completed
from cosmos_emulator.errors import CosmosError
from cosmos_emulator.messages.answer import Answer, resource_answer
from cosmos_emulator.messages.request import Request
from cosmos_emulator.operations.resource_requests import check_if_match

_FIXED: Final = ("id", "partitionKey", "uniqueKeyPolicy")


async def handle(request: Request) -> Answer:
    """Replace a container (200). Raises 412, and 400 if id, partition key or unique keys differ."""
    container = request.container
    check_if_match(request, container.resource)
    present = container.resource.body
    given = request.json_object()
    body = completed({**{name: present[name] for name in _FIXED}, **given})
    for name in _FIXED:
        if body[name] != present[name]:
            raise CosmosError(400, f"The '{name}' of a container cannot be changed after its creation.")
    await request.gateway.account.replace_container(container, body)
    return resource_answer(200, container.resource)
