"""Whether the blog is alive and ready."""

from __future__ import annotations

from functools import cache

import azure.functions as func

from shared.data.health import Health, Readiness
from shared.errors import NotReady
from shared.http.calls import Call
from shared.http.endpoints import Endpoints

endpoints = Endpoints("health")


@cache
def _readiness() -> Readiness:
    return Readiness()


@endpoints.endpoint(
    "GET",
    "health",
    summary="Is it alive, is it ready",
    resource=Health,
    answers=(200,),
    refusals=(NotReady,),
)
async def get_health(_call: Call[None]) -> func.HttpResponse:
    """200 when the database, every container and every script that is used is there; 503 naming what is not. An answer
    is up to a second old."""
    health = await _readiness().health()
    return func.HttpResponse(
        health.model_dump_json().encode(),
        headers={"Cache-Control": "no-store"},
        mimetype="application/json",
    )
