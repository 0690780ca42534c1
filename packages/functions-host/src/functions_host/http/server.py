"""The HTTP server. It uses aiohttp's low-level server, because the host has its own router.

Rules: azure-functions-host WebHost/Middleware.
"""

from __future__ import annotations

import asyncio
import logging
import re
import socket
import time
from collections.abc import Mapping, Sequence
from typing import Any

from aiohttp import web

from ..errors import InvocationError
from ..function_bindings import Output
from ..functions import LoadedFunction
from ..invocation import Invoker, TraceContext
from . import sign_in
from .admin import AdminApi, is_public
from .callers import ForbiddenCallerError, check_host, check_page
from .connections import LimitedServer
from .cors import CorsPolicy
from .keys import Keys
from .request import function_request, split_target
from .response import UnencodableResultError, web_response
from .router import Router
from .throttle import QueueFullError, RequestThrottle

HOME_PAGE = "<!DOCTYPE html><title>Functions host</title><h1>Your Functions host is up and running</h1>"
STOP_TIMEOUT_S = 10.0
# How long an unread body (too large, chunked) is drained before the connection closes.
LINGERING_S = 2.0

# Like Kestrel (dotnet/aspnetcore HttpUtilities.cs, IsHostHeaderValid), which does not limit the port.
_HOST = re.compile(r"(?:(?:\[[0-9A-Fa-f:.]{3,}\]|[A-Za-z0-9!$&'()._~-]+)(?::(?P<port>[0-9]{1,5}))?)?")
_LAST_PORT = 65_535

_log = logging.getLogger("Host.Http")


class HttpServer:
    """Serves the HTTP functions, `/admin` and the home page."""

    def __init__(
        self,
        router: Router,
        invoker: Invoker,
        admin: AdminApi,
        cors: CorsPolicy,
        *,
        keys: Keys | None,
        throttle: RequestThrottle,
        custom_headers: Mapping[str, str],
        allowed_hosts: Sequence[str],
        body_limit: int,
        home_page: bool,
        has_sign_in: bool,
    ) -> None:
        """Create a server. Bodies over `body_limit` bytes return 413. Without `keys`, no request needs one."""
        self._router = router
        self._invoker = invoker
        self._admin = admin
        self._cors = cors
        self._keys = keys
        self._throttle = throttle
        self._custom_headers = custom_headers
        self._allowed_hosts = allowed_hosts
        self._body_limit = body_limit
        self._home_page = home_page
        self._has_sign_in = has_sign_in
        self._runner: web.ServerRunner | None = None

    async def start(self, sockets: Sequence[socket.socket]) -> None:
        """Listen on duplicates of these sockets."""
        server = LimitedServer(
            self._handle,
            request_factory=self._make_request,
            access_log=None,
            # The real host forwards compressed bodies unchanged.
            auto_decompress=False,
            lingering_time=LINGERING_S,
        )
        self._runner = web.ServerRunner(server, shutdown_timeout=STOP_TIMEOUT_S)
        await self._runner.setup()
        for each in sockets:
            await web.SockSite(self._runner, each.dup()).start()

    async def stop(self) -> None:
        """Stop listening and wait up to 10 s for running requests."""
        if self._runner is not None:
            await self._runner.cleanup()

    def _make_request(self, message: Any, payload: Any, protocol: Any, writer: Any, task: Any) -> web.BaseRequest:
        loop = asyncio.get_running_loop()
        return web.BaseRequest(message, payload, protocol, writer, task, loop, client_max_size=self._body_limit)

    async def _handle(self, request: web.BaseRequest) -> web.StreamResponse:
        started = time.perf_counter()
        response = await self._respond(request)
        # A query can contain a function key. Tools poll /admin, which would bury the other lines.
        path = request.raw_path.partition("?")[0]
        if _log.isEnabledFor(logging.INFO) and path[:7].lower() != "/admin/":
            milliseconds = (time.perf_counter() - started) * 1000
            _log.info("%s %s %d %.1f ms", request.method, ascii(path)[1:-1], response.status, milliseconds)
        return response

    async def _respond(self, request: web.BaseRequest) -> web.StreamResponse:
        if not _is_valid_host(request.host):
            return web.Response(status=400)
        try:
            check_host(request.headers.get("Host", ""), self._allowed_hosts)
            response = self._cors.preflight(request)
            if response is not None:
                return response
            response = await self._route(request)
        except ForbiddenCallerError as error:
            response = web.Response(status=403, text=str(error))
        except (web.RequestPayloadError, ConnectionResetError):  # invalid or incomplete body
            response = web.Response(status=400)
        if self._cors.origins:
            self._cors.add_headers(request, response)
        for name, value in self._custom_headers.items():
            response.headers[name] = value
        return response

    async def _route(self, request: web.BaseRequest) -> web.Response:
        path, query = split_target(request.raw_path)
        if self._has_sign_in and path[:6].lower() == sign_in.PREFIX:
            return await sign_in.respond(request, path, query)
        if path[:6].lower() == "admin/":
            check_page(request.headers)
            if self._keys is not None and not is_public(path) and not self._keys.allow_admin(request):
                return web.Response(status=401)
            # Like ASP.NET Core. A browser sends JSON to another site only with that site's permission.
            if request.body_exists and request.content_type != "application/json":
                return web.Response(status=415)
            return await self._admin.handle(request.method, path, await request.read())
        found = self._router.match(request.method, path)
        if found is None:
            return self._no_match(request, path)
        function, route_values = found
        if self._keys is not None and not self._keys.allow(function, request):
            return web.Response(status=401)
        try:
            async with self._throttle.slot():
                return await self._serve(request, function, query, route_values)
        except QueueFullError:
            return web.Response(status=429, headers={"X-FUNCTION-SCALEOUT": "1"})

    def _no_match(self, request: web.BaseRequest, path: str) -> web.Response:
        if path or request.method != "GET":
            return web.Response(status=404)
        if self._home_page:
            return web.Response(text=HOME_PAGE, content_type="text/html")
        return web.Response(status=204)

    async def _serve(
        self, request: web.BaseRequest, function: LoadedFunction, query: str, route_values: Mapping[str, str]
    ) -> web.Response:
        try:
            body = await self._body(request)
        except web.HTTPRequestEntityTooLarge:
            return web.Response(status=413)
        headers = sign_in.authenticated(request) if self._has_sign_in else request.headers
        argument = function_request(request, headers, query, route_values, body)
        arguments: dict[str, object] = {function.argument: argument}
        output = Output()
        if function.output is not None:
            arguments[function.output] = output
        trace = TraceContext(headers.get("traceparent", ""), headers.get("tracestate", ""))
        try:
            result = await self._invoker.invoke(function, arguments, trace=trace)
            return web_response(output.value if function.output is not None else result)
        except InvocationError:
            return web.Response(status=500)
        except (UnencodableResultError, ValueError) as error:
            _log.error("function=%s returned an invalid response: %s", function.name, error)
            return web.Response(status=500)

    async def _body(self, request: web.BaseRequest) -> bytes:
        """Return the body, or b'' without Content-Length, which the real host requires."""
        length = request.content_length
        if not length:
            return b""
        if length > self._body_limit:
            raise web.HTTPRequestEntityTooLarge(self._body_limit, length)
        return await request.read()


def _is_valid_host(host: str) -> bool:
    parts = _HOST.fullmatch(host)
    return parts is not None and int(parts["port"] or 0) <= _LAST_PORT
