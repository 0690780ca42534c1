"""Slow, idle and many connections."""

from __future__ import annotations

import asyncio
import os
import re
import socket
import sys
from pathlib import Path

import pytest
from aiohttp import ClientSession
from functions_host.http import connections
from tests.running import app_module, eventually, host_process, running, write_app
from yarl import URL

APP = """
import asyncio
started = asyncio.Event()
gate = asyncio.Event()

@app.route(route="hello")
def hello(req): return "x"

@app.route(route="wait")
async def wait(req):
    started.set()
    await gate.wait()
    return "done"
"""
WITH_256_DESCRIPTORS = ("sh", "-c", 'ulimit -n 256; exec "$@"', "sh")
unix_only = pytest.mark.skipif(sys.platform == "win32", reason="Windows does not limit descriptors")


@pytest.mark.skipif(not socket.has_ipv6, reason="needs IPv6")
async def test_a_host_can_listen_on_ipv6(tmp_path: Path) -> None:
    async with running(write_app(tmp_path, APP), host="::1") as host, ClientSession() as session:
        async with session.get(f"{host.url}/api/hello") as answer:
            assert await answer.text() == "x"
        assert host.url == f"http://{os.environ['WEBSITE_HOSTNAME']}"


@pytest.mark.parametrize("sent", [b"", b"GET /api/hello HTTP/1.1\r\nHost: x\r\n"])
async def test_a_connection_without_complete_headers_is_closed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, sent: bytes
) -> None:
    monkeypatch.setattr(connections, "IDLE_TIMEOUT_S", 0.1)
    async with running(write_app(tmp_path, APP)) as host:
        address = URL(host.url)
        reader, writer = await asyncio.open_connection(address.host, address.port)
        writer.write(sent)

        assert await asyncio.wait_for(reader.read(), 30) == b""
        writer.close()


async def test_a_running_request_is_not_idle(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, http: ClientSession
) -> None:
    monkeypatch.setattr(connections, "IDLE_TIMEOUT_S", 0.1)
    monkeypatch.setattr(connections, "_most_connections", lambda: 1)
    async with running(write_app(tmp_path, APP)) as host:
        address = URL(host.url)
        waiting = asyncio.create_task(http.get(f"{host.url}/api/wait"))
        await eventually(lambda: app_module().started.is_set())
        reader, writer = await asyncio.open_connection(address.host, address.port)
        refused = await asyncio.wait_for(reader.read(), 30)
        writer.close()
        app_module().gate.set()
        response = await waiting

        assert (refused, response.status) == (b"", 200)


@unix_only
async def test_idle_connections_do_not_stop_the_host(tmp_path: Path, http: ClientSession) -> None:
    app_dir = write_app(tmp_path, APP)
    async with host_process(app_dir, "host", {}, launcher=WITH_256_DESCRIPTORS) as host:
        address = URL(host.url)
        idle = [await asyncio.open_connection(address.host, address.port) for _ in range(330)]
        async with asyncio.timeout(30), http.get(f"{host.url}/api/hello") as response:
            status = response.status
        for _, writer in idle:
            writer.close()

    assert status == 200
    # asyncio accepts many connections in one step, before they are counted. It then pauses for a second.
    assert host.log.read_text().count("socket.accept()") < 5


_GET = b"GET /api/hello HTTP/1.1\r\nHost: x\r\n\r\n"
_CHUNKED = b"POST /api/hello HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n"
_SIZED = b"POST /api/hello HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc"
_LAST = b"GET /api/hello HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"


@pytest.mark.parametrize(
    ("data", "statuses"),
    [
        (_GET * 3 + _LAST, [200] * 4),
        (_SIZED + _CHUNKED + _GET.replace(b"GET /", b"PUT //") + _LAST, [200, 200, 404, 200]),
        (_GET + b"BAD\r\n\r\n" + _GET, [200, 400]),
        (_LAST + _GET, [200]),
        (_CHUNKED + b"GET /%00 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", [200, 400]),
    ],
)
async def test_requests_on_a_connection_are_answered_in_order(tmp_path: Path, data: bytes, statuses: list[int]) -> None:
    async with running(write_app(tmp_path, APP)) as host:
        address = URL(host.url)
        reader, writer = await asyncio.open_connection(address.host, address.port)
        for start in range(0, len(data), 7):  # in pieces
            writer.write(data[start : start + 7])
            await writer.drain()
        received = await asyncio.wait_for(reader.read(), 30)
        writer.close()

    assert [int(status) for status in re.findall(rb"HTTP/1.1 (\d+) ", received)] == statuses
