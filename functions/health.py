"""Health: whether the app can serve requests."""

from __future__ import annotations

import azure.functions as func

from shared.containers import added_containers, container_definitions
from shared.endpoints import Endpoint
from shared.platform.errors import NotReady
from shared.platform.http.calls import QUERY, Call
from shared.platform.http.health import Health, Readiness
from shared.platform.http.responses import Response, json_response
from shared.settings import settings

bp = func.Blueprint()

# Called when the add-ons have registered their containers.
_readiness = Readiness(
    lambda: [*container_definitions(), *added_containers],
    uses_scripts=lambda: settings().transactions == "procedure",
)


@bp.route(route="api/health", methods=QUERY, auth_level=func.AuthLevel.ANONYMOUS)
@Endpoint(returns=Health, errors=(NotReady,))
async def get_health(_call: Call[None]) -> Response:
    """Check that the app is ready.

    Returns 503 and names what is missing if the database, a container, or a stored procedure is unavailable, or if the
    account has multiple write regions. Each process checks at most once in ten seconds, which costs 11 RU.
    """
    health = Health(checks=await _readiness.checks())
    return json_response(health.model_dump(by_alias=True), headers={"Cache-Control": "no-store"})
