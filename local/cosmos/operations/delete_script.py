"""DELETE …/sprocs/{id}, …/triggers/{id}, …/udfs/{id}."""

from __future__ import annotations

from local.cosmos.resource_conditions import check_if_match
from local.cosmos.resource_feeds import owner_rid
from local.cosmos.wire import Answer, Request


async def handle(request: Request) -> Answer:
    """204; 404 without the script, 412 when it has changed."""
    script = request.resource(request.link.kinds[-1], owner_rid(request))
    check_if_match(request, script)
    request.gateway.account.resources.remove(script)
    return Answer(204, charge_ru=4.95)
