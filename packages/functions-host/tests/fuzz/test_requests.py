"""The host survives any bytes, responds to errors with 4xx and keeps serving its app.

`FUZZ_SECONDS` is about how long each test takes, `FUZZ_SEED` the seed. By default, a short run repeats the same inputs.
"""

from __future__ import annotations

import asyncio
import os
import re
import select
import socket
from collections.abc import Callable, Iterator
from typing import Final
from urllib.parse import urlsplit
from urllib.request import urlopen
from uuid import uuid4

import pytest
from hypothesis import HealthCheck, given, seed, settings
from tests.fuzz.hostile_http import broken_requests, requests
from tests.running import HostProcess, host_process, write_app

# Must not leak from the app's source and the environment.
MARKER: Final = f"secret{uuid4().hex}"
APP: Final = f"""
SECRET = "{MARKER}"

@app.route(route="canary")
def canary(req): return "alive"

@app.route(route="echo/{{id?}}")
def echo(req): return func.HttpResponse(repr((req.url, dict(req.params), dict(req.route_params), req.get_body()))[:500])

@app.route(route="items/{{id:int:min(1)}}/{{name:alpha:maxlength(5)=x}}", methods=["GET", "PUT"])
async def items(req): return str(req.route_params)

@app.route(route="all/{{*rest}}")
def rest(req): return str(req.route_params.get("rest"))

@app.route(route="dates/{{when:datetime}}/{{part:guid}}/{{n:decimal}}")
def dates(req): return "x"

@app.route(route="read", methods=["POST"])
def read(req):
    try:
        return str(req.get_json())[:100]
    except ValueError:
        return func.HttpResponse(status_code=400)
"""
ANSWER_S: Final = 30.0
_PATIENCE_S: Final = 0.03
_INPUTS_PER_SECOND: Final = 50
# aiohttp logs a traceback for each request that is not HTTP or has the wrong content encoding.
_REFUSED_BYTES: Final = re.compile(
    r"^aiohttp\.(http_exceptions\.|web_protocol\.RequestPayloadError)|^zlib\.error", re.M
)


def fuzzed(test: Callable[..., None]) -> Callable[..., None]:
    seconds, number = float(os.environ.get("FUZZ_SECONDS", "0.5")), os.environ.get("FUZZ_SEED")
    configured = settings(
        max_examples=max(1, int(seconds * _INPUTS_PER_SECOND)),
        deadline=None,
        database=None,
        derandomize=number is None,
        # The host serves all inputs of a test. Long inputs are intended.
        suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.data_too_large, HealthCheck.too_slow],
    )
    return configured(test if number is None else seed(int(number))(test))


@pytest.fixture(scope="module")
def process(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HostProcess]:
    app = write_app(tmp_path_factory.mktemp("app"), APP)
    running = host_process(app, "fuzzed", {"FUZZ_SECRET": MARKER}, "--cors", "http://x")
    with asyncio.Runner() as runner:
        yield runner.run(running.__aenter__())
        runner.run(running.__aexit__(None, None, None))


@pytest.fixture
def port(process: HostProcess) -> Iterator[int]:
    """The port of the host, which must serve its app and have no error in its log after the test."""
    yield urlsplit(process.url).port or 0
    with urlopen(f"{process.url}/api/canary", timeout=ANSWER_S) as response:  # noqa: S310 - a local address
        assert response.read() == b"alive"
    log = process.log.read_text(errors="replace")
    unexpected = [trace for trace in log.split("Traceback")[1:] if not _REFUSED_BYTES.search(trace)]
    assert not unexpected
    assert not re.findall(".* was never .*", log)


@fuzzed
@given(request=requests())
def test_any_request_to_the_host_is_answered_or_rejected(port: int, request: bytes) -> None:
    head = request.partition(b"\r\n\r\n")[0]
    # A second content-length can announce a body that never comes.
    assert_harmless(exchange(port, request, complete=b"\r\ncontent-length: " not in head))


@fuzzed
@given(data=broken_requests())
def test_any_bytes_to_the_host_are_answered_or_rejected(port: int, data: bytes) -> None:
    assert_harmless(exchange(port, data, complete=False))


def exchange(port: int, data: bytes, *, complete: bool) -> bytes:
    """Send `data` and return all bytes until the server closes. Raises TimeoutError if it does not.

    If `data` is not a `complete` request, the client closes its side after a short wait.
    """
    received = b""
    with socket.create_connection(("127.0.0.1", port), ANSWER_S) as connection:
        try:
            connection.sendall(data)
            if not complete and not select.select([connection], [], [], _PATIENCE_S)[0]:
                connection.shutdown(socket.SHUT_WR)
            while piece := connection.recv(65536):
                received += piece
                if not complete and not select.select([connection], [], [], _PATIENCE_S)[0]:
                    break
        except (BrokenPipeError, ConnectionResetError):
            pass  # the server can refuse a request before reading all of it
    return received


def assert_harmless(received: bytes) -> None:
    statuses = [int(status) for status in re.findall(rb"HTTP/1\.[01] (\d{3})", received)]
    assert all(status < 500 for status in statuses), received
    assert MARKER.encode() not in received
    assert b"root:x:0" not in received
