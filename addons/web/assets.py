"""Static files of the web site."""

from __future__ import annotations

import azure.functions as func

from addons.web.avatars import avatar
from addons.web.static_files import asset
from shared.endpoints import Endpoint
from shared.platform.http.calls import QUERY, Call
from shared.platform.http.responses import CACHE_FOR_A_YEAR, Response, document_response

bp = func.Blueprint()


@bp.route(route="assets/{version}/{name}", methods=QUERY, auth_level=func.AuthLevel.ANONYMOUS)
@Endpoint()
async def get_asset(call: Call[None]) -> Response:
    """Load a style sheet, script, or icon."""
    return _asset(call.path["name"], call.path["version"])


@bp.route(route="favicon.ico", methods=QUERY, auth_level=func.AuthLevel.ANONYMOUS)
@Endpoint()
async def get_favicon(_call: Call[None]) -> Response:
    """Load the icon by the name that clients guess."""
    return _asset("favicon.svg", version="")


@bp.route(route="avatars/{userId}.svg", methods=QUERY, auth_level=func.AuthLevel.ANONYMOUS)
@Endpoint()
async def get_avatar(call: Call[None]) -> Response:
    """Load the avatar of a user, who need not exist."""
    content = avatar(call.path["userId"]).encode()
    return document_response(content, "image/svg+xml", cache_control=CACHE_FOR_A_YEAR)


def _asset(name: str, version: str) -> Response:
    return asset(name, version) or Response(status=404, media_type="text/plain")
