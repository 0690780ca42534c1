"""GET of one database, container, script or offer."""

from __future__ import annotations

from local.cosmos import headers as h
from local.cosmos.resource_feeds import owner_rid
from local.cosmos.wire import Answer, Request, resource_answer


async def handle(request: Request) -> Answer:
    """200; 404 without it."""
    kind = request.link.kinds[-1]
    if kind == "dbs":
        return resource_answer(200, request.database)
    if kind == "colls":
        answer = resource_answer(200, request.container.resource)
        # A changed policy takes effect at once: there is no index to rebuild in the background.
        answer.headers[h.INDEX_PROGRESS] = "100"
        return answer
    return resource_answer(200, request.resource(kind, owner_rid(request)))
