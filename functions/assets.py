"""Static files of the web site."""

from __future__ import annotations

import azure.functions as func

from shared.http.calls import Call
from shared.http.endpoints import QUERY, Endpoint
from shared.http.responses import CACHE_FOR_A_YEAR, Document, served
from shared.site.assets import asset
from shared.site.avatars import avatar

bp = func.Blueprint()


@bp.route(route="assets/{version}/{name}", methods=QUERY, auth_level=func.AuthLevel.ANONYMOUS)
@Endpoint(statuses=(200, 304))
async def get_asset(call: Call[None]) -> func.HttpResponse:
    """Load a style sheet, script, or icon."""
    return _asset(call, call.path["name"], call.path["version"])


@bp.route(route="favicon.ico", methods=QUERY, auth_level=func.AuthLevel.ANONYMOUS)
@Endpoint(statuses=(200, 304))
async def get_favicon(call: Call[None]) -> func.HttpResponse:
    """Load the icon by the name that clients guess."""
    return _asset(call, "favicon.svg", version="")


@bp.route(route="avatars/{userId}.svg", methods=QUERY, auth_level=func.AuthLevel.ANONYMOUS)
@Endpoint(statuses=(200, 304))
async def get_avatar(call: Call[None]) -> func.HttpResponse:
    """Load the avatar of a user, who need not exist."""
    return served(call, Document(avatar(call.path["userId"]).encode(), "image/svg+xml", CACHE_FOR_A_YEAR))


def _asset(call: Call[None], name: str, version: str) -> func.HttpResponse:
    document = asset(name, version)
    return served(call, document) if document else func.HttpResponse(status_code=404)
