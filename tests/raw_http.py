"""Requests as bytes, for those that a client would not send."""

from __future__ import annotations

import asyncio

from tests.running_app import RunningApp


async def raw(app: RunningApp, request: bytes) -> bytes:
    """Send raw bytes and return the whole response."""
    host, port = app.url.removeprefix("http://").split(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    writer.write(request)
    await writer.drain()
    answer = await reader.read()
    writer.close()
    await writer.wait_closed()
    return answer
