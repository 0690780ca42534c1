"""Health: whether the app can serve requests."""

from __future__ import annotations

from functools import cache

import azure.functions as func

from shared.data.health import Readiness
from shared.errors import NotReady
from shared.http.calls import Call
from shared.http.endpoints import Endpoint
from shared.models.health import Health
from shared.propagation.lag import Propagation

bp = func.Blueprint()


@cache
def _readiness() -> Readiness:
    return Readiness()


@cache
def _propagation() -> Propagation:
    return Propagation()


@bp.route(route="health", methods=["GET"], auth_level=func.AuthLevel.ANONYMOUS)
@Endpoint(returns=Health, statuses=(200,), errors=(NotReady,))
async def get_health(_call: Call[None]) -> func.HttpResponse:
    """Check that the app is ready.

    Returns 503 and names what is missing if the database, a container, or a stored procedure is unavailable. Results
    are cached for up to a second. Change-feed lag is reported for up to five seconds and does not affect the status.
    """
    checks = await _readiness().checks()
    health = Health(checks=checks, propagation=await _propagation().lags())
    return func.HttpResponse(
        health.model_dump_json(by_alias=True).encode(),
        headers={"Cache-Control": "no-store"},
        mimetype="application/json",
    )
