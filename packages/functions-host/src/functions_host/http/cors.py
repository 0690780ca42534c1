"""Cross-origin requests, handled before routing."""

from __future__ import annotations

from dataclasses import dataclass

from aiohttp import web

from ..errors import HostStartError


@dataclass(frozen=True)
class CorsPolicy:
    """The allowed origins; `*` allows any. Every header and method is allowed."""

    origins: tuple[str, ...]
    credentials: bool = False

    def __post_init__(self) -> None:
        if self.credentials and "*" in self.origins:
            raise HostStartError("CORS: list the allowed origins; '*' cannot be combined with credentials")

    def preflight(self, request: web.BaseRequest) -> web.Response | None:
        """Return a 204 response to a preflight request, else None."""
        method = request.headers.get("Access-Control-Request-Method")
        if not self.origins or request.method != "OPTIONS" or not method or "Origin" not in request.headers:
            return None
        response = web.Response(status=204)
        if self._allows(request.headers["Origin"]):
            self.add_headers(request, response)
            response.headers["Access-Control-Allow-Methods"] = method
            if headers := request.headers.get("Access-Control-Request-Headers"):
                response.headers["Access-Control-Allow-Headers"] = headers
        return response

    def add_headers(self, request: web.BaseRequest, response: web.Response) -> None:
        """Add CORS headers if the origin is allowed. Requests from other origins are also served."""
        origin = request.headers.get("Origin")
        if origin is None or not self._allows(origin):
            return
        if "*" in self.origins:
            response.headers["Access-Control-Allow-Origin"] = "*"
            return
        response.headers["Access-Control-Allow-Origin"] = origin
        response.headers.add("Vary", "Origin")
        if self.credentials:
            response.headers["Access-Control-Allow-Credentials"] = "true"

    def _allows(self, origin: str) -> bool:
        return "*" in self.origins or origin.lower() in (known.lower() for known in self.origins)
