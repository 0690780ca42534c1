"""Readiness of the blog."""

from __future__ import annotations

import azure.functions as func

from functions.routes import ROUTES
from shared.data.health import Readiness
from shared.errors import NotReady
from shared.http.calls import Call
from shared.http.endpoints import Endpoints
from shared.models.health import Health

endpoints = Endpoints("health", ROUTES["health"])

_readiness = Readiness()


@endpoints.endpoint(
    summary="Check readiness",
    resource=Health,
    answers=(200,),
    refusals=(NotReady,),
)
async def get_health(_call: Call[None]) -> func.HttpResponse:
    """200 if the database, every container and every script in use exists; 503 naming what is missing. The checks are
    at most a second old."""
    health = Health(checks=await _readiness.checks())
    return func.HttpResponse(
        health.model_dump_json(by_alias=True).encode(),
        headers={"Cache-Control": "no-store"},
        mimetype="application/json",
    )
