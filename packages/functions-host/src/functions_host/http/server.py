"""The HTTP server. It uses aiohttp's low-level server, because the host has its own router.

Rules: azure-functions-host WebHost/Middleware.
"""

from __future__ import annotations

import asyncio
import ipaddress
import logging
import random
import re
import socket
import time
from collections.abc import Mapping, Sequence

from aiohttp import web

from ..errors import InvocationError
from ..function_bindings import Output
from ..functions import LoadedFunction
from ..invocation import Invoker, TraceContext
from ..retry import RetryPolicy, RetryState, run_with_retries
from . import sign_in
from .admin import AdminApi, is_known, is_public
from .callers import ForbiddenCallerError, check_host, check_page
from .connections import SERVER, HostRequest, LimitedServer
from .cors import CorsPolicy
from .keys import Keys
from .request import function_request
from .response import BrokenResponseError, UnencodableResultError, web_response
from .router import Router
from .throttle import QueueFullError, RequestThrottle

HOME_PAGE = "<!DOCTYPE html><title>Functions host</title><h1>Your Functions host is up and running</h1>"
# How long an unread body (too large, chunked) is drained before the connection closes.
LINGERING_S = 2.0

_AUTHORITY = re.compile(r"(?:\[(?P<address>.*)\]|(?P<name>[^:]+))(?::(?P<port>\d+))?")
# What .NET's Uri accepts of what Kestrel does. Labels have up to 63 characters.
_NAME = re.compile(r"(?=.{1,255}$)(?:[A-Za-z0-9_-]{1,63}\.)*[A-Za-z0-9_-]{1,63}\.?")
_LAST_PORT = 65_535
# A client learns from it that /admin also accepts tokens, as in Azure; this host does not.
_UNAUTHORIZED = {"WWW-Authenticate": "Bearer"}

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
        has_telemetry: bool,
        retry: RetryPolicy | None,
        calls_for_nobody: bool,
        disabled: Mapping[str, LoadedFunction],
        grace_s: float,
    ) -> None:
        """Create a server. Bodies over `body_limit` bytes return 500. Without `keys`, no request needs one.

        `disabled` functions, by lowercase name, are served only with the master key. A stop waits up to `grace_s`
        seconds for running requests.
        """
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
        self._has_telemetry = has_telemetry
        self._retry = retry
        self._calls_for_nobody = calls_for_nobody
        self._disabled = disabled
        self._grace_s = grace_s
        self._runner: web.ServerRunner | None = None

    async def start(self, sockets: Sequence[socket.socket]) -> None:
        """Listen on duplicates of these sockets."""
        server = LimitedServer(
            self._handle,
            self._body_limit,
            access_log=None,
            # The real host forwards compressed bodies unchanged.
            auto_decompress=False,
            lingering_time=LINGERING_S,
        )
        # aiohttp waits twice for this long before it cancels the requests.
        self._runner = web.ServerRunner(server, shutdown_timeout=self._grace_s / 2)
        await self._runner.setup()
        for each in sockets:
            await web.SockSite(self._runner, each.dup()).start()

    async def stop(self) -> None:
        """Stop listening and wait for running requests. Does nothing the second time."""
        if self._runner is not None:
            await self._runner.cleanup()
            self._runner = None

    async def _handle(self, request: HostRequest) -> web.StreamResponse:
        started = time.perf_counter()
        try:
            response = await self._respond(request)
        except BrokenResponseError as error:
            _log.error("%s %s: invalid response: %s", request.method, ascii(request.head.path), error)
            if error.ends_connection:
                request.protocol.force_close()
            response = web.Response(status=500)
        if "Server" not in response.headers:
            response.headers["Server"] = SERVER
        # A query can contain a function key. Tools poll /admin, which would bury the other lines.
        path = request.raw_path.partition("?")[0]
        if _log.isEnabledFor(logging.INFO) and path[:7].lower() != "/admin/":
            milliseconds = (time.perf_counter() - started) * 1000
            _log.info("%s %s %d %.1f ms", request.method, ascii(path)[1:-1], response.status, milliseconds)
        return response

    async def _respond(self, request: HostRequest) -> web.StreamResponse:
        try:
            check_host(request.head.host, self._allowed_hosts)
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
            response.headers.setdefault(name, value)
        return response

    async def _route(self, request: HostRequest) -> web.Response:
        head, path = request.head, request.head.path.removeprefix("/")
        if self._has_sign_in and path[:6].lower() == sign_in.PREFIX:
            return await sign_in.respond(request, path, head.query)
        is_admin = is_known(head)
        if is_admin or head.path.lower().startswith("/runtime/webhooks/"):
            check_page(request.headers)
            if self._keys is not None and not is_public(head) and not self._keys.allow_admin(head):
                if self._keys.is_of_host(head):
                    return web.Response(status=403)
                return web.Response(status=401, headers=_UNAUTHORIZED)
            if not is_admin:
                return web.Response(status=404)
            # A browser sends JSON to another site only with that site's permission.
            if request.body_exists and request.content_type != "application/json" and not is_public(head):
                return web.Response(status=415)
            return await self._admin.handle(head, request.content_type, await request.read(), self._keys)
        found = self._router.match(head.method.upper(), path)
        if found is None:
            return self._no_match(path)
        function, route_values = found
        if function.name.lower() in self._disabled and not (self._keys and self._keys.allow_admin(head)):
            return web.Response(status=404)
        if self._keys is not None and not self._keys.allow(function, head):
            return web.Response(status=401)
        if not _is_authority(head.host):
            return web.Response(status=500)
        try:
            async with self._throttle.slot():
                return await self._serve(request, function, route_values)
        except QueueFullError:
            return web.Response(status=429, headers={"X-FUNCTION-SCALEOUT": "1"})

    def _no_match(self, path: str) -> web.Response:
        if path:
            return web.Response(status=404)
        if self._home_page:
            return web.Response(text=HOME_PAGE, content_type="text/html")
        return web.Response(status=204)

    async def _serve(
        self, request: HostRequest, function: LoadedFunction, route_values: Mapping[str, str]
    ) -> web.Response:
        try:
            body = await self._body(request)
        except web.HTTPRequestEntityTooLarge:
            _log.error("function=%s is not called: the body has more than %d bytes", function.name, self._body_limit)
            return web.Response(status=500)
        if not self._calls_for_nobody and await _has_left(request):
            _log.warning("function=%s is not called: its client has left", function.name)
            return web.Response(status=500)
        headers = sign_in.authenticated(request) if self._has_sign_in else request.headers
        trace = TraceContext.of_caller(headers) if self._has_telemetry else None
        output = Output()
        results: list[object] = []

        async def attempt(state: RetryState) -> None:
            argument = function_request(request.head, headers, route_values, body)
            arguments: dict[str, object] = {function.argument: argument}
            if function.output is not None:
                arguments[function.output] = output
            results.append(await self._invoker.invoke(function, arguments, trace=trace, retry=state))

        try:
            await run_with_retries(function.retry or self._retry, attempt, halted=asyncio.Event(), random=random.random)
            response = web_response(output.value if function.output is not None else results[-1])
        except InvocationError:
            return web.Response(status=500)
        except (UnencodableResultError, ValueError) as error:
            _log.error("function=%s returned an invalid response: %s", function.name, error)
            return web.Response(status=500)
        if "Transfer-Encoding" in response.headers:
            if request.head.method == "HEAD":
                raise BrokenResponseError("a response without a body has no transfer coding", ends_connection=False)
        elif response.body and not request.head.is_http_1_0 and "Content-Length" not in response.headers:
            response.enable_chunked_encoding()
        return response

    async def _body(self, request: HostRequest) -> bytes:
        """Return the body, or b'' without Content-Length, which the real host requires."""
        length = request.head.length
        if not length:
            return b""
        if length > self._body_limit:
            raise web.HTTPRequestEntityTooLarge(self._body_limit, length)
        if request.headers.get("Expect", "").lower() == "100-continue":
            await request.writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
            request.writer.output_size = 0
        return await request.read()


async def _has_left(request: HostRequest) -> bool:
    """Return whether the client has closed the connection."""
    await asyncio.sleep(0)  # lets the event loop read the end of a connection that came right after the request
    return request.transport is None or request.transport.is_closing()


def _is_authority(host: str) -> bool:
    """Return whether a URL can have this Host header. The real host fails if the function's URL cannot."""
    parts = _AUTHORITY.fullmatch(host)
    if parts is None or int(parts["port"] or 0) > _LAST_PORT:
        return False
    if not parts["address"]:
        return _NAME.fullmatch(parts["name"]) is not None
    try:
        ipaddress.IPv6Address(parts["address"])
    except ValueError:
        return False
    return True
