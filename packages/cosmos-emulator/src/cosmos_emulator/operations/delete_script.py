"""DELETE …/sprocs/{id}, …/triggers/{id}, …/udfs/{id}."""

from __future__ import annotations

from cosmos_emulator.messages.answer import Answer
from cosmos_emulator.messages.request import Request
from cosmos_emulator.operations.resource_requests import check_if_match, owner_rid


async def handle(request: Request) -> Answer:
    """Delete a script (204). Raises 404, 412."""
    script = request.resource(request.link.kinds[-1], owner_rid(request))
    check_if_match(request, script)
    request.gateway.account.resources.remove(script)
    return Answer(204, charge_ru=4.95)
