"""PUT …/sprocs/{id}, …/triggers/{id}, …/udfs/{id}."""

from __future__ import annotations

from cosmos_emulator.errors import CosmosError
from cosmos_emulator.messages.answer import Answer, resource_answer
from cosmos_emulator.messages.request import Request
from cosmos_emulator.operations.create_script import check_edition_of, checked_script
from cosmos_emulator.operations.resource_requests import check_if_match, owner_rid


async def handle(request: Request) -> Answer:
    """Replace a script (200). Raises 400, 404, 412."""
    kind = request.link.kinds[-1]
    script = request.resource(kind, owner_rid(request))
    check_if_match(request, script)
    body = checked_script(kind, request.json_object())
    if body["id"] != script.id:
        raise CosmosError(400, "The id of a script cannot be changed.")
    await check_edition_of(request, body)
    request.gateway.account.replace(script, body)
    return resource_answer(200, script, charge_ru=9.9)
