"""Slow, idle and many connections."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import socket
import ssl
import sys
import warnings
from asyncio.subprocess import Process
from pathlib import Path

import pytest
from aiohttp import ClientSession
from cosmos_emulator import CosmosEmulator, EmulatorSettings
from cosmos_emulator.http import connections
from cosmos_emulator.http.connections import AcceptErrorFilter
from tests.emulator_client import emulator_client
from tests.processes import emulator_process
from yarl import URL

WITH_256_DESCRIPTORS = ("sh", "-c", 'ulimit -n 256; exec "$@"', "sh")
unix_only = pytest.mark.skipif(sys.platform == "win32", reason="Windows does not limit descriptors")


@pytest.mark.skipif(not socket.has_ipv6, reason="needs IPv6")
async def test_an_emulator_can_listen_on_ipv6() -> None:
    async with emulator_client(EmulatorSettings(host="::1")) as client:
        assert (await client.create_database("db")).id == "db"


@pytest.mark.parametrize("sent", [b"", b"GET / HTTP/1.1\r\nHost: x\r\n"])
async def test_a_connection_without_complete_headers_is_closed(monkeypatch: pytest.MonkeyPatch, sent: bytes) -> None:
    monkeypatch.setattr(connections, "IDLE_TIMEOUT_S", 0.1)
    async with CosmosEmulator() as emulator:
        address = URL(emulator.endpoint)
        reader, writer = await asyncio.open_connection(address.host, address.port)
        writer.write(sent)

        assert await asyncio.wait_for(reader.read(), 30) == b""
        writer.close()


@pytest.mark.parametrize("tls", [False, True])
async def test_a_client_that_starts_with_http_2_is_told_to_use_http_1(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, tls: bool
) -> None:
    monkeypatch.setattr(connections, "IDLE_TIMEOUT_S", 0.5)
    preface, settings = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", bytes([0, 0, 0, 4, 0, 0, 0, 0, 0])
    headers = bytes([0, 0, 3, 1, 5, 0, 0, 0, 1]) + b"abc"
    async with CosmosEmulator(EmulatorSettings(data_dir=tmp_path, tls=tls)) as emulator:
        address = URL(emulator.endpoint)
        trusting = ssl.create_default_context(cafile=emulator.certificate) if tls else None
        reader, writer = await asyncio.open_connection(address.host, address.port, ssl=trusting)
        ping = bytes([0, 0, 8, 6, 0, 0, 0, 0, 0]) + b"pingpong"
        acknowledged = bytes([0, 0, 0, 4, 1, 0, 0, 0, 0])
        for part in (preface, settings + headers[:4], headers[4:10], headers[10:], ping, acknowledged):
            writer.write(part)
            await asyncio.sleep(0.01)

        answer = await asyncio.wait_for(reader.read(), 30)  # to the end, which is not a reset
        writer.close()

    http_1_1_required = bytes([0, 0, 4, 3, 0, 0, 0, 0, 1]) + bytes([0, 0, 0, 0xD])
    pong = bytes([0, 0, 8, 6, 1, 0, 0, 0, 0]) + b"pingpong"
    assert answer == settings + acknowledged + http_1_1_required + pong


async def test_a_client_that_goes_on_with_http_2_is_disconnected() -> None:
    request = bytes([0, 0, 3, 1, 5, 0, 0, 0, 1]) + b"abc"
    async with CosmosEmulator() as emulator:
        address = URL(emulator.endpoint)
        reader, writer = await asyncio.open_connection(address.host, address.port)
        writer.write(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + request * 200)

        answer = await asyncio.wait_for(reader.read(), 30)
        writer.close()

    goaway = bytes([0, 0, 8, 7, 0, 0, 0, 0, 0]) + bytes([0, 0, 0, 1, 0, 0, 0, 0xD])
    assert answer.endswith(goaway)


@pytest.mark.parametrize("turns", range(4))
def test_a_connection_accepted_at_the_end_is_closed(turns: int) -> None:
    async def connect_and_stop() -> socket.socket:
        async with CosmosEmulator() as emulator:
            address = URL(emulator.endpoint)
            client = socket.create_connection((address.host, address.port), timeout=30)
            for _ in range(turns):
                await asyncio.sleep(0)
        return client

    with warnings.catch_warnings():
        warnings.simplefilter("error")  # pytest turns warnings of finalizers into failures
        with (
            asyncio.Runner() as runner,
            runner.run(connect_and_stop()) as client,
            contextlib.suppress(ConnectionResetError),  # never accepted
        ):
            assert client.recv(1) == b""


@unix_only
async def test_idle_connections_do_not_stop_the_emulator() -> None:
    async with emulator_process("--memory", launcher=WITH_256_DESCRIPTORS) as (process, endpoint):
        address = URL(endpoint)
        idle = [await asyncio.open_connection(address.host, address.port) for _ in range(330)]
        health = f"{endpoint}_emulator/health"
        async with asyncio.timeout(30), ClientSession() as session, session.get(health) as response:
            status = response.status
        log = await logged(process)
        for _, writer in idle:
            writer.close()

    assert status == 200
    # asyncio accepts many connections in one step, before they are counted. It then pauses for a second.
    assert log.count(b"socket.accept()") < 5


def test_a_repeated_accept_error_is_logged_once_per_second() -> None:
    accepting = AcceptErrorFilter()
    failed = logging.makeLogRecord({"msg": "socket.accept() out of system resource\nsocket: %s", "args": (1,)})
    other = logging.makeLogRecord({"msg": "Task was destroyed"})

    assert [accepting.filter(one) for one in (failed, failed, other, other)] == [True, False, True, True]


async def logged(process: Process) -> bytes:
    process.terminate()
    assert process.stderr is not None
    return await asyncio.wait_for(process.stderr.read(), 60)
