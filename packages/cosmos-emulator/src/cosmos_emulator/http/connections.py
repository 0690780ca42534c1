"""Limits for idle connections: how long they stay open, and how many."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import Awaitable, Callable
from typing import Any, Final

from aiohttp import web
from aiohttp.web_protocol import RequestHandler

from cosmos_emulator.descriptors import most_connections

# From the last response, or the start, to the end of a request's headers. Longer than clients keep idle connections
# (aiohttp: 15 s, .NET: 1 min), which would otherwise send requests on a connection that is being closed.
IDLE_TIMEOUT_S: Final = 75.0

_Handler = Callable[[web.BaseRequest], Awaitable[web.StreamResponse]]


class LimitedServer(web.Server):
    """Closes connections without complete headers within 75 s, and the oldest idle one if there are too many.

    If all are busy, the new one is closed.
    """

    def __init__(self, handler: _Handler, **options: Any) -> None:
        """Create a server. `options` are those of aiohttp."""
        super().__init__(self._serve, keepalive_timeout=IDLE_TIMEOUT_S, **options)
        self._answer = handler
        self._most = most_connections()
        self._busy: set[RequestHandler] = set()

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
