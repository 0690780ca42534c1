"""Health: whether the app can serve requests."""

from __future__ import annotations

import azure.functions as func

from shared.errors import NotReady
from shared.http.calls import QUERY, Call
from shared.http.endpoints import Endpoint
from shared.http.health import Health, Readiness
from shared.http.responses import Response, json_response

bp = func.Blueprint()

_readiness = Readiness()


@bp.route(route="api/health", methods=QUERY, auth_level=func.AuthLevel.ANONYMOUS)
@Endpoint(returns=Health, errors=(NotReady,))
async def get_health(_call: Call[None]) -> Response:
    """Check that the app is ready.

    Returns 503 and names what is missing if the database, a container, or a stored procedure is unavailable, or if the
    account has multiple write regions. Each process checks at most once in ten seconds, which costs 11 RU.
    """
    health = Health(checks=await _readiness.checks())
    return json_response(health.model_dump(by_alias=True), headers={"Cache-Control": "no-store"})
