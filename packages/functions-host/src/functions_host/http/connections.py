"""Connections: Kestrel's rules for requests in front of aiohttp's parser, and limits for idle connections."""

from __future__ import annotations

import asyncio
import sys
from collections import deque
from collections.abc import Awaitable, Callable
from typing import Any

from aiohttp import web
from aiohttp.web_protocol import RequestHandler
from multidict import CIMultiDictProxy

from .request_head import RefusedRequestError, RequestHead, take_head

# From the last response, or the start, to the end of a request's headers. Longer than clients keep idle connections
# (aiohttp: 15 s, .NET: 1 min), which would otherwise send requests on a connection that is being closed.
IDLE_TIMEOUT_S = 75.0
# Reserved for files, and for the 128 connections that asyncio can accept before they are counted.
_RESERVED = 512
_ON_WINDOWS = 8192  # without a limit of descriptors

# The Server header that clients see in Azure.
SERVER = "Kestrel"
_EMPTY_REQUEST = b"POST / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"


class HostRequest(web.BaseRequest):
    """A request with its head, which aiohttp has not seen, or the reason to refuse it."""

    head: RequestHead
    refusal: RefusedRequestError | None = None

    async def _prepare_hook(self, response: web.StreamResponse) -> None:
        """Remove what aiohttp adds and Kestrel does not."""
        if not response.headers.get("Content-Type", "-"):
            del response.headers["Content-Type"]
        has_body = isinstance(response, web.Response) and response.body
        is_unframed = "Transfer-Encoding" in response.headers or (self.refusal is None and self.head.is_http_1_0)
        if has_body and is_unframed:
            response.headers.popall("Content-Length", None)


_Handler = Callable[[HostRequest], Awaitable[web.StreamResponse]]


class _Connection(RequestHandler):
    """Parses the heads of requests itself, and passes simpler ones to aiohttp, with the same bodies."""

    __slots__ = ("_body_left", "_buffer", "_ignores_rest", "_passes_rest", "heads")

    def __init__(self, server: web.Server, **options: Any) -> None:
        super().__init__(server, **options)
        self._buffer = bytearray()
        self.heads: deque[RequestHead | RefusedRequestError] = deque()
        self._body_left = 0
        self._passes_rest = self._ignores_rest = False

    def data_received(self, data: bytes) -> None:
        if self._passes_rest or not data:
            super().data_received(data)
            return
        self._buffer += data
        while self._buffer and (self._body_left or not self._ignores_rest):
            if self._body_left:
                part = bytes(self._buffer[: self._body_left])
                del self._buffer[: len(part)]
                self._body_left -= len(part)
                super().data_received(part)
            elif not self._take_head():
                return

    def _take_head(self) -> bool:
        """Return whether the data contained a whole head."""
        try:
            head = take_head(self._buffer)
        except RefusedRequestError as refusal:
            self.heads.append(refusal)
            self._ignores_rest = True
            super().data_received(_EMPTY_REQUEST)
            return True
        if head is None:
            return False
        self.heads.append(head)
        super().data_received(head.framing)
        self._ignores_rest = head.closes
        if head.length is not None:
            self._body_left = head.length
        else:
            # The parser finds the end of a chunked body. For later requests on this connection, its rules apply, too.
            self._passes_rest = True
            super().data_received(bytes(self._buffer))
            self._buffer.clear()
        return True


class LimitedServer(web.Server):
    """Closes connections without complete headers within 75 s, and the oldest idle one if there are too many.

    If all are busy, the new one is closed.
    """

    def __init__(self, handler: _Handler, body_limit: int, **options: Any) -> None:
        """Create a server. `body_limit` is in bytes. `options` are aiohttp's."""
        super().__init__(self._serve, request_factory=self._request)  # type: ignore[arg-type]  # all are HostRequest
        self._options = {**options, "keepalive_timeout": IDLE_TIMEOUT_S}
        self._body_limit = body_limit
        self._answer = handler
        self._most = _most_connections()
        self._busy: set[RequestHandler] = set()

    def __call__(self) -> RequestHandler:
        """Return the protocol of a new connection."""
        return _Connection(self, loop=asyncio.get_running_loop(), **self._options)

    def _request(self, message: Any, payload: Any, protocol: Any, writer: Any, task: Any) -> HostRequest:
        head = protocol.heads.popleft() if protocol.heads else _head_of(message)
        if isinstance(head, RequestHead):
            headers = CIMultiDictProxy(head.headers)
            message = message._replace(method=head.method, path=head.url, headers=headers)
        loop = asyncio.get_running_loop()
        request = HostRequest(message, payload, protocol, writer, task, loop, client_max_size=self._body_limit)
        if isinstance(head, RequestHead):
            request.head = head
        else:
            request.refusal = head
        return request

    async def _serve(self, request: HostRequest) -> web.StreamResponse:
        if request.refusal is not None:
            headers = {**request.refusal.headers, "Server": SERVER}
            return web.Response(status=request.refusal.status, headers=headers)
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


def _head_of(message: Any) -> RequestHead | RefusedRequestError | None:
    """Return the head of a request after a chunked body, which aiohttp has parsed."""
    lines = [f"{message.method} {message.path} HTTP/1.1".encode(errors="surrogateescape")]
    lines += [b"%b: %b" % header for header in message.raw_headers]
    try:
        return take_head(bytearray(b"\r\n".join([*lines, b"", b""])))
    except RefusedRequestError as refusal:
        return refusal


def _most_connections() -> int:
    if sys.platform == "win32":
        return _ON_WINDOWS
    import resource  # only on Unix

    descriptors, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return sys.maxsize if descriptors == resource.RLIM_INFINITY else max(descriptors // 4, descriptors - _RESERVED)
