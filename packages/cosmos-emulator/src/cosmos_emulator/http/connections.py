"""Connections: how long idle ones stay open, how many there are, and answers to what is not HTTP/1.1."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import struct
import time
from collections.abc import Awaitable, Callable
from typing import Any, Final

from aiohttp import web
from aiohttp.http_exceptions import HttpProcessingError
from aiohttp.web_protocol import RequestHandler

from cosmos_emulator.runtime.descriptors import most_connections

# From the last response, or the start, to the end of a request's headers. Longer than clients keep idle connections
# (aiohttp: 15 s, .NET: 1 min), which would otherwise send requests on a connection that is being closed.
IDLE_TIMEOUT_S: Final = 75.0
# The longest partition key in JSON has 36 KB: three values of 2,048 bytes (concepts-limits), each \u0001. The service's
# limit is not documented (learn.microsoft.com/azure/cosmos-db/nosql/troubleshoot-dotnet-sdk-request-header-too-large).
_MAX_HEADER_BYTES: Final = 64 * 1024

# RFC 9113: what a client sends first, and frames, which start with their length, type, flags and stream.
_PREFACE: Final = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
_FRAME: Final = struct.Struct(">xHBBI")  # of the lengths that a client may use before it knows others
_HEADERS, _RST_STREAM, _SETTINGS, _PING, _GOAWAY = 1, 3, 4, 6, 7
_ACK: Final = 1
_HTTP_1_1_REQUIRED: Final = (0xD).to_bytes(4, "big")
_MOST_ANSWERS: Final = 100  # to a client, which may not read them

_Handler = Callable[[web.BaseRequest], Awaitable[web.StreamResponse]]
_Refuse = Callable[[web.BaseRequest, HttpProcessingError], web.StreamResponse]


class LimitedServer(web.Server):
    """Closes connections without complete headers within 75 s, and the oldest idle one if there are too many.

    If all are busy, the new one is closed.
    """

    def __init__(self, handler: _Handler, refuse: _Refuse, **options: Any) -> None:
        """Create a server. `refuse` answers what is not an HTTP request; `options` are aiohttp's."""
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


class _Connection(RequestHandler):
    """A connection whose errors of HTTP are answered by the server, where aiohttp would log them.

    It tells a client that starts with HTTP/2, as the Rust SDK does, to use HTTP/1.1. aiohttp would answer in HTTP/1.1
    and close the connection, which can reach the client as a lost connection.
    """

    _unread: bytes | None = None  # of a client that uses HTTP/2
    _is_new = True
    _answers = 0
    _stream = 0  # of the last request

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

    def data_received(self, data: bytes) -> None:
        """Parse data, or refuse each request of HTTP/2."""
        if self._is_new:
            self._is_new = False
            if data.startswith(_PREFACE):
                data = data.removeprefix(_PREFACE)
                self._unread = b""
                self._send_frame(_SETTINGS, 0, 0, b"")
        if self._unread is None:
            super().data_received(data)
        else:
            self._unread = self._refused(self._unread + data)

    def _refused(self, data: bytes) -> bytes:
        """Refuse the requests in complete frames, acknowledge settings and pings; return the rest."""
        start = 0
        while len(data) >= start + _FRAME.size:
            length, kind, flags, stream = _FRAME.unpack_from(data, start)
            end = start + _FRAME.size + length
            if len(data) < end:
                break
            if kind == _HEADERS:
                # Not before: a client whose connection ends before its request does not learn why.
                self._stream = stream
                self._answer(_RST_STREAM, 0, stream, _HTTP_1_1_REQUIRED)
            elif kind in (_SETTINGS, _PING) and not flags & _ACK:
                self._answer(kind, _ACK, 0, data[end - length : end] if kind == _PING else b"")
            start = end
        if self._answers > _MOST_ANSWERS:
            self._send_frame(_GOAWAY, 0, 0, self._stream.to_bytes(4, "big") + _HTTP_1_1_REQUIRED)
            self.force_close()
            return b""
        return data[start:]

    def _answer(self, kind: int, flags: int, stream: int, payload: bytes) -> None:
        self._answers += 1
        self._send_frame(kind, flags, stream, payload)

    def _send_frame(self, kind: int, flags: int, stream: int, payload: bytes) -> None:
        if self.transport is not None:
            self.transport.write(_FRAME.pack(len(payload), kind, flags, stream) + payload)


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
