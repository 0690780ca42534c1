"""Paths that the API does not have."""

from __future__ import annotations

import azure.functions as func

from shared.endpoints import Endpoint
from shared.platform.errors import PathNotFound
from shared.platform.http.calls import QUERY, Call
from shared.platform.http.responses import Response

bp = func.Blueprint()


# The host tries routes in the order of function names, so this name must sort after all others of the API.
@bp.route(route="api/{*path}", methods=[*QUERY, "POST", "PUT", "DELETE"], auth_level=func.AuthLevel.ANONYMOUS)
@Endpoint(errors=(PathNotFound,))
async def z_api(_call: Call[None]) -> Response:
    """Refuse an unknown path of the API."""
    raise PathNotFound
