"""Connections: how long idle ones stay open, how many there are, and answers to what is not HTTP."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import Awaitable, Callable
from typing import Any, Final

from aiohttp import web
from aiohttp.http_exceptions import HttpProcessingError
from aiohttp.web_protocol import RequestHandler

from cosmos_emulator.descriptors import most_connections
from cosmos_emulator.http.http2 import Http1Connection

# From the last response, or the start, to the end of a request's headers. Longer than clients keep idle connections
# (aiohttp: 15 s, .NET: 1 min), which would otherwise send requests on a connection that is being closed.
IDLE_TIMEOUT_S: Final = 75.0
# The longest partition key in JSON has 36 KB: three values of 2,048 bytes (concepts-limits), each \u0001. The service's
# limit is not documented (learn.microsoft.com/azure/cosmos-db/nosql/troubleshoot-dotnet-sdk-request-header-too-large).
_MAX_HEADER_BYTES: Final = 64 * 1024

_Handler = Callable[[web.BaseRequest], Awaitable[web.StreamResponse]]
_Refuse = Callable[[web.BaseRequest, HttpProcessingError], web.StreamResponse]


class LimitedServer(web.Server):
    """Closes connections without complete headers within 75 s, and the oldest idle one if there are too many.

    If all are busy, the new one is closed.
    """

    def __init__(self, handler: _Handler, refuse: _Refuse, **options: Any) -> None:
        """Create a server. `refuse` answers what is not an HTTP request; `options` are those of aiohttp."""
        options |= {"max_line_size": _MAX_HEADER_BYTES, "max_field_size": _MAX_HEADER_BYTES}
        super().__init__(self._serve, keepalive_timeout=IDLE_TIMEOUT_S, **options)
        self._answer = handler
        self.refuse = refuse
        self._most = most_connections()
        self._busy: set[RequestHandler] = set()

    def __call__(self) -> RequestHandler:
        """Return the protocol of a new connection."""
        return _Connection(self, loop=self._loop, **self._kwargs)

    async def _serve(self, request: web.BaseRequest) -> web.StreamResponse:
        self._busy.add(request.protocol)
        try:
            return await self._answer(request)
        finally:
            self._busy.discard(request.protocol)

    def connection_made(self, handler: RequestHandler, transport: Any) -> None:
        """Count a connection, which is the last in `connections`."""
        super().connection_made(handler, transport)
        if len(self.connections) > self._most:
            remaining = [one for one in self.connections if one.transport is not None]  # others are being closed
            if len(remaining) > self._most:
                next(one for one in remaining if one not in self._busy).force_close()


class _Connection(Http1Connection):
    """A connection whose errors of HTTP are answered by the server, where aiohttp would log them."""

    __slots__ = ("_server",)

    def __init__(self, server: LimitedServer, **options: Any) -> None:
        super().__init__(server, **options)
        self._server = server

    def handle_error(
        self,
        request: web.BaseRequest,
        status: int = 500,
        exc: BaseException | None = None,
        message: str | None = None,
    ) -> web.StreamResponse:
        """Return the response to an error, and close the connection after it."""
        if not isinstance(exc, HttpProcessingError) or request.writer.output_size > 0:
            return super().handle_error(request, status, exc, message)
        response = self._server.refuse(request, exc)
        response.force_close()
        return response


async def close_listener(listener: asyncio.Server) -> None:
    """Close a listener, but first finish the connections it has accepted.

    `close` alone would leak them: asyncio attaches each to its server one turn later, and asserts that it is open
    (`Server._attach` in asyncio/base_events.py).
    """
    with contextlib.suppress(NotImplementedError):  # the event loop of Windows
        for each in listener.sockets:
            asyncio.get_running_loop().remove_reader(each)
    for _ in range(3):  # turns from accepting a connection to `connection_made`
        await asyncio.sleep(0)
    listener.close()


class AcceptErrorFilter(logging.Filter):
    """Passes one error per second of connections that cannot be accepted; asyncio logs one for every attempt."""

    _next_s = 0.0

    def filter(self, record: logging.LogRecord) -> bool:
        """Return whether the record is logged."""
        if not record.getMessage().startswith("socket.accept()"):
            return True
        now = time.monotonic()
        if now < self._next_s:
            return False
        self._next_s = now + 1
        return True
