"""Whether the blog is alive and ready."""

from __future__ import annotations

from functools import cache

import azure.functions as func

from functions.routes import ROUTES
from shared.data.health import Readiness
from shared.errors import NotReady
from shared.http.calls import Call
from shared.http.endpoints import Endpoints
from shared.models.health import Health
from shared.propagation.lag import Propagation

endpoints = Endpoints("health", ROUTES["health"])


@cache
def _readiness() -> Readiness:
    return Readiness()


@cache
def _propagation() -> Propagation:
    return Propagation()


@endpoints.endpoint(
    summary="Is it alive, is it ready",
    resource=Health,
    answers=(200,),
    refusals=(NotReady,),
)
async def get_health(_call: Call[None]) -> func.HttpResponse:
    """200 when the database, every container and every script that is used is there; 503 naming what is not. How far
    the copies of names and posts lag behind is said, too, and is no reason for a 503. The checks are up to a second
    old, the lag up to five."""
    checks = await _readiness().checks()
    health = Health(checks=checks, propagation=await _propagation().lags())
    return func.HttpResponse(
        health.model_dump_json(by_alias=True).encode(),
        headers={"Cache-Control": "no-store"},
        mimetype="application/json",
    )
