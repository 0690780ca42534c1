"""The Functions host survives any bytes, responds to errors with 4xx and keeps serving its app."""

from __future__ import annotations

import os
import random
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final
from uuid import uuid4

import pytest

from tests.fuzz import hostile_json
from tests.fuzz.fuzz_rounds import FuzzRounds
from tests.fuzz.hostile_bytes import broken
from tests.fuzz.hostile_json import words
from tests.fuzz.http_bytes import Header, HttpRequest, answers, exchange
from tests.fuzz.processes import ROOT, ServerProcess, server_process

# The app's source contains a marker that must not leak.
APP: Final = """
import azure.functions as func
app = func.FunctionApp(http_auth_level=func.AuthLevel.ANONYMOUS)
SECRET = "MARKER"

@app.route(route="canary")
def canary(req): return "alive"

@app.route(route="echo/{id?}")
def echo(req): return func.HttpResponse(repr((req.url, dict(req.params), dict(req.route_params), req.get_body()))[:500])

@app.route(route="items/{id:int:min(1)}/{name:alpha:maxlength(5)=x}", methods=["GET", "PUT"])
async def items(req): return str(req.route_params)

@app.route(route="all/{*rest}")
def rest(req): return str(req.route_params.get("rest"))

@app.route(route="dates/{when:datetime}/{part:guid}/{n:decimal}")
def dates(req): return "x"

@app.route(route="read", methods=["POST"])
def read(req):
    try:
        return str(req.get_json())[:100]
    except ValueError:
        return func.HttpResponse(status_code=400)
"""
_READY: Final = re.compile(r"listening on http://127\.0\.0\.1:(\d+)")
_VERBS: Final = ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS", "get", "X", "TRACE"]
_PATHS: Final = [
    *(
        "/api/echo",
        "/api/echo/1",
        "/api/items/5/abc",
        "/api/items/99999999999999999999",
        "/api/all/a/b",
        "/api/read",
        "/",
    ),
    *(
        "/api/dates/2024-01-01/x/1",
        "/api/dates/9999999-13-45T99/00000000-0000-0000-0000-000000000000/1e999",
        "/api",
        "/API/ECHO",
    ),
    *(
        "/admin/functions",
        "/admin/functions/echo",
        "/admin/functions/echo/status",
        "/admin/host/status",
        "/admin/host/ping",
    ),
]
_PIECES: Final = [
    *(
        b"..",
        b"%2e%2e",
        b"%2F",
        b"%5C",
        b"%00",
        b"%ff",
        b"%",
        b"%zz",
        b"\xc3\xbc",
        b"%C3%BC",
        b"//",
        b"/",
        b"x" * 5000,
        b"%250a",
    ),
    *(
        b"function_app.py",
        b"local.settings.json",
        b"host.json",
        b"{id}",
        b"*",
        b"?a=1&a=2&&=&b",
        b"?%ff=%00",
        b"#x",
        b";",
        b"%0d%0a",
    ),
    *(b"..%2F..%2Fetc%2Fpasswd", b"?" + b"a=1&" * 2000, b"+", b"-1", b"1e5", b"%D9%A1", b"code=x"),
]
_HEADERS: Final = words(
    """
    content-type content-length origin access-control-request-method x-forwarded-for traceparent tracestate
    cookie host transfer-encoding expect content-encoding x-functions-key accept range if-none-match upgrade
    """
)
_VALUES: Final = [
    *(
        b"",
        b"x",
        b"0",
        b"-1",
        b"9" * 30,
        b"chunked",
        b"gzip",
        b"application/json",
        b"text/plain; charset=utf-7",
        b"multipart/form-data",
    ),
    *(
        b"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
        b"*",
        b"http://x",
        b"null",
        b"\xff",
        b"100-continue",
        b"\xc3\xbc",
    ),
    *(b"a" * 7000, b"bytes=0-5", b"websocket", b"a=b; c", b'"', b"multipart/form-data; boundary=" + b"x" * 200),
]


@pytest.fixture(scope="session")
def marker() -> str:
    return f"secret{uuid4().hex}"


@pytest.fixture(scope="session")
def host(marker: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    app: Path = tmp_path_factory.mktemp("app")
    (app / "function_app.py").write_text(APP.replace("MARKER", marker))
    (app / "host.json").write_text('{"version": "2.0"}')
    arguments = ["-m", "functions_host", "--port", "0", "--no-reload", "--app-dir", str(app), "--cors", "http://x"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "FUZZ_SECRET": marker}
    with server_process(arguments, environment, _READY) as server:
        yield server


def _request(rng: random.Random) -> HttpRequest:
    path = rng.choice(_PATHS).encode()
    while rng.random() < 0.4:
        at = rng.choice([len(path), rng.randrange(1, len(path) + 1), path.rfind(b"/") + 1])
        path = path[:at] + rng.choice(_PIECES) + path[at:]
    headers: list[Header] = [
        (rng.choice(_HEADERS).encode(), rng.choice(_VALUES)) for _ in range(rng.choice([0, 0, 1, 1, 3]))
    ]
    body = b""
    if rng.random() < 0.4:
        body = hostile_json.encoded(rng, hostile_json.changed(rng, {"input": "a", "n": [1, {"b": None}]}, 2))
    return HttpRequest(rng.choice(_VERBS), path, tuple(headers), body, chunked=rng.random() < 0.1)


def _judge(rounds: FuzzRounds, host: ServerProcess, marker: str, received: bytes, given: object) -> None:
    for status in re.findall(rb"HTTP/1\.[01] (\d{3})", received):
        if int(status) >= 500:
            rounds.found(f"status {status.decode()}", given, received)
    if marker.encode() in received or b"root:x:0" in received:
        rounds.found("a file", given, received)
    if rounds.inputs % 50 == 0:
        [canary] = answers(exchange(host.port, HttpRequest("GET", b"/api/canary").encoded()))
        if (canary.status, canary.body) != (200, b"alive"):
            rounds.found("the app is not served", given, canary)
        if errors := host.complaints():
            rounds.found("an error in the log", given, errors)


def test_any_request_to_the_host_is_answered_or_rejected(rounds: FuzzRounds, host: ServerProcess, marker: str) -> None:
    for rng in rounds:
        given = _request(rng)
        rounds.inputs += 1
        try:
            received = exchange(host.port, given.encoded(), complete=not given.header("content-length"))
        except TimeoutError as error:
            rounds.found("a connection that stays open", error, given)
            continue
        _judge(rounds, host, marker, received, given)
    assert host.is_alive


def test_any_bytes_to_the_host_are_answered_or_rejected(rounds: FuzzRounds, host: ServerProcess, marker: str) -> None:
    for rng in rounds:
        data = b"".join(_request(rng).encoded(last=False) for _ in range(rng.choice([1, 1, 3])))
        data = broken(rng, data)
        rounds.inputs += 1
        try:
            received = exchange(host.port, data, complete=False)
        except TimeoutError as error:
            rounds.found("a connection that stays open", error, data)
            continue
        _judge(rounds, host, marker, received, data)
    assert host.is_alive
