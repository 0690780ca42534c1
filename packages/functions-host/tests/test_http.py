"""HTTP functions: routing, request mapping, return values."""

from __future__ import annotations

import asyncio
import io
import re
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from aiohttp import ClientError, ClientResponse, ClientSession
from functions_host import FunctionsHost, HostStartError
from tests.running import app_module, running, write_app
from yarl import URL

ECHO = """
import json

seen = []

def echo(req):
    return func.HttpResponse(json.dumps({
        "method": req.method, "url": req.url, "params": dict(req.params), "route": dict(req.route_params),
        "headers": dict(req.headers), "body": req.get_body().decode("latin-1"),
    }), mimetype="application/json")

@app.route(route="echo/{id?}")
def echo_all(req): return echo(req)

@app.route(route="items/{id:int}", methods=["GET"])
def items_get(req): return echo(req)

@app.route(route="items/{id:int}", methods=["PUT"])
def items_put(req): return echo(req)

@app.route(route="order/{*rest}", methods=["GET"])
def a_catch(req): return "catch"

@app.route(route="order/literal", methods=["GET", "POST"])
def b_literal(req): return "literal"

@app.route(methods=["GET", "HEAD"])
async def no_route(req: func.HttpRequest) -> func.HttpResponse:
    return func.HttpResponse("text")

@app.route(route="json", methods=["POST"])
def read_json(req):
    try:
        return func.HttpResponse(json.dumps(req.get_json()))
    except ValueError:
        return func.HttpResponse("bad", status_code=400)

@app.route(route="returns/{what}")
def returns(req):
    return {
        "none": None, "bytes": b"x", "dict": {}, "text": "plain", "object": '{"b":1,"a":[]}',
        "string": '"quoted"', "null": "null", "number": "1.50",
        "described": '{"statusCode": 201, "headers": {"X-A": "b"}, "body": {"k": 1}}',
        "newline": '{"headers": {"X-A": "a\\\\nb"}, "body": ""}',
        "empty": func.HttpResponse(status_code=204),
    }[req.route_params["what"]]

@app.route(route="headers")
def headers(req):
    response = func.HttpResponse("x", mimetype="text/html", charset="latin-1")
    for value in ("a=1; Path=/; HttpOnly", "b=2"):
        response.headers.add("Set-Cookie", value)
    response.headers.add("X-Twice", "1")
    response.headers.add("X-Twice", "2")
    return response

@app.route(route="length/{length}")
def wrong_length(req):
    return func.HttpResponse("body", headers={"Content-Length": req.route_params["length"]})

@app.route(route="coded/{status}")
def coded(req):
    status = int(req.route_params["status"])
    return func.HttpResponse("body", status_code=status, headers={"Transfer-Encoding": "gzip"})

@app.route(route="raises")
def raises(req): raise RuntimeError("secret")

@app.route(route="context")
async def see_context(req, context: func.Context):
    return json.dumps({"body": {
        "name": context.function_name, "id": context.invocation_id, "directory": context.function_directory,
        "parent": context.trace_context.trace_parent, "state": context.trace_context.trace_state,
        "retries": [context.retry_context.retry_count, context.retry_context.max_retry_count],
    }})

@app.route(route="thread")
def see_thread(req, context):
    return context.thread_local_storage.invocation_id == context.invocation_id and "same" or "other"

@app.route(route="out", binding_arg_name="res")
def sets_output(req: func.HttpRequest, res: func.Out[func.HttpResponse]) -> None:
    res.set(func.HttpResponse("set", status_code=202))
"""


@pytest.fixture(scope="module")
def app_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_app(tmp_path_factory.mktemp("app"), ECHO)


@pytest.fixture
async def host(app_dir: Path) -> AsyncIterator[FunctionsHost]:
    async with running(app_dir) as host:
        yield host


async def get(
    http: ClientSession, host: FunctionsHost, path: str, method: str = "GET", **options: object
) -> ClientResponse:
    url = URL(host.url + path, encoded=True)
    response = await http.request(method, url, **options)
    await response.read()
    return response


async def test_a_request_is_mapped_as_in_the_real_host(http: ClientSession, host: FunctionsHost) -> None:
    response = await get(
        http,
        host,
        "/API/Echo/x%20y?a=&b=1&b=2&C=%2B+",
        "POST",
        data=b"\xff1",
        headers=[("X-One", "1"), ("X-One", "2"), ("X-Empty", "")],
    )

    seen = await response.json()
    assert seen["method"] == "POST"
    assert seen["url"] == f"{host.url}/API/Echo/x%20y?a=&b=1&b=2&C=%2B+"
    assert seen["params"] == {"b": "1,2", "C": "+ "}
    assert seen["route"] == {"id": "x y"}
    assert seen["body"] == "\xff1"
    assert (seen["headers"]["x-one"], seen["headers"]["x-empty"]) == ("1,2", "")


@pytest.mark.parametrize(
    ("path", "route"),
    [
        ("/api/echo", {}),
        ("/api/echo/", {}),
        ("/api/echo/a%2Fb", {"id": "a%2Fb"}),
        ("/api/echo/%C3%A9%25", {"id": "é%"}),
        ("/api/items/5", {"id": "5"}),
    ],
)
async def test_route_values_are_decoded_once(
    http: ClientSession, host: FunctionsHost, path: str, route: dict[str, str]
) -> None:
    assert (await (await get(http, host, path)).json())["route"] == route


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/echo"),
        ("GET", "/api/items/abc"),
        ("POST", "/api/items/5"),
        ("OPTIONS", "/api/items/5"),
        ("HEAD", "/api/items/5"),
        ("GET", "/api/echo/a/b"),
        ("GET", "/api/nothing"),
    ],
)
async def test_an_unmatched_request_returns_an_empty_404(
    http: ClientSession, host: FunctionsHost, method: str, path: str
) -> None:
    response = await get(http, host, path, method)

    assert (response.status, await response.read()) == (404, b"")
    assert "Allow" not in response.headers


async def test_the_first_function_by_name_that_allows_the_method_wins(http: ClientSession, host: FunctionsHost) -> None:
    assert await (await get(http, host, "/api/order/literal")).text() == "catch"
    assert await (await get(http, host, "/api/order/literal", "POST")).text() == "literal"
    assert (await (await get(http, host, "/api/items/1", "PUT")).json())["method"] == "PUT"


async def test_a_route_without_methods_accepts_all(http: ClientSession, host: FunctionsHost) -> None:
    for method in ("GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"):
        assert (await get(http, host, "/api/echo", method)).status == 200


async def test_head_runs_the_function_and_sends_no_body(http: ClientSession, host: FunctionsHost) -> None:
    response = await get(http, host, "/api/no_route", "HEAD")

    assert (response.status, await response.read()) == (200, b"")
    assert response.headers["Content-Type"] == "text/plain; charset=utf-8"


async def test_function_keys_are_accepted_and_ignored(http: ClientSession, host: FunctionsHost) -> None:
    response = await get(http, host, "/api/echo?code=k", headers={"x-functions-key": "k"})

    assert (await response.json())["params"] == {"code": "k"}


async def test_get_json_ignores_the_content_type_and_rejects_invalid_json(
    http: ClientSession, host: FunctionsHost
) -> None:
    good = await get(http, host, "/api/json", "POST", data=b'{"a": 1}', headers={"Content-Type": "text/plain"})

    assert (good.status, await good.json(content_type=None)) == (200, {"a": 1})
    for body in (b"", b"{", b"\xff"):
        assert (await get(http, host, "/api/json", "POST", data=body)).status == 400


async def test_a_chunked_body_arrives_empty(http: ClientSession, host: FunctionsHost) -> None:
    async def chunks() -> AsyncIterator[bytes]:
        yield b"abc"

    for _ in range(2):
        response = await get(http, host, "/api/echo", "POST", data=chunks())
        assert (await response.json())["body"] == ""


@pytest.mark.parametrize("what", ["none", "bytes", "dict", "newline", "unknown"])
async def test_an_invalid_return_value_returns_an_empty_500(
    http: ClientSession, host: FunctionsHost, what: str
) -> None:
    response = await get(http, host, f"/api/returns/{what}")

    assert (response.status, await response.read()) == (500, b"")


@pytest.mark.parametrize(
    ("what", "text"),
    [
        ("text", "plain"),
        ("object", '{\n  "b": 1,\n  "a": []\n}'),
        ("string", "quoted"),
        ("null", ""),
        ("number", "1.5"),
    ],
)
async def test_a_returned_str_is_text_and_its_json_is_reformatted(
    http: ClientSession, host: FunctionsHost, what: str, text: str
) -> None:
    response = await get(http, host, f"/api/returns/{what}")

    assert (response.status, await response.text()) == (200, text)
    assert response.headers["Content-Type"] == "text/plain; charset=utf-8"


async def test_a_returned_str_can_describe_a_response(http: ClientSession, host: FunctionsHost) -> None:
    response = await get(http, host, "/api/returns/described")

    assert (response.status, response.headers["X-A"], await response.text()) == (201, "b", '{"k":1}')
    assert response.headers["Content-Type"] == "text/plain; charset=utf-8"


async def test_response_headers_are_encoded_as_in_the_worker(http: ClientSession, host: FunctionsHost) -> None:
    response = await get(http, host, "/api/headers")

    assert response.headers["Content-Type"] == "text/html; charset=latin-1"
    assert response.headers.getall("Set-Cookie") == [
        "a=1; domain=; path=/; httponly",
        "b=2; domain=; path=",
    ]
    assert response.headers.getall("X-Twice") == ["2"]
    assert response.headers["Transfer-Encoding"] == "chunked"
    assert (await get(http, host, "/api/echo")).headers["Content-Type"] == "application/json"
    assert (await get(http, host, "/api/no_route")).headers["Content-Type"] == "text/plain; charset=utf-8"


async def test_a_wrong_length_fails_and_ends_the_connection_if_it_is_too_long(
    http: ClientSession, host: FunctionsHost
) -> None:
    assert (await get(http, host, "/api/length/4")).headers["Content-Length"] == "4"
    assert (await get(http, host, "/api/length/2")).status == 500
    with pytest.raises(ClientError):
        await get(http, host, "/api/length/10")


@pytest.mark.parametrize(
    ("method", "status", "answer"),
    [("GET", 200, 200), ("HEAD", 200, 500), ("GET", 204, 500)],
    ids=["body", "HEAD", "no body"],
)
async def test_a_body_in_another_transfer_coding_ends_with_the_connection(
    http: ClientSession, host: FunctionsHost, method: str, status: int, answer: int
) -> None:
    """As Kestrel does (aspnetcore HttpProtocol.cs, CreateResponseHeaders). The function encodes the body itself."""
    response = await get(http, host, f"/api/coded/{status}", method)

    assert response.status == answer
    if answer == 200:
        assert (response.headers["Transfer-Encoding"], response.headers["Connection"]) == ("gzip", "close")
        assert "Content-Length" not in response.headers
        assert await response.read() == b"body"


async def test_an_exception_returns_an_empty_500_and_is_logged_with_its_traceback(
    http: ClientSession, host: FunctionsHost, caplog: pytest.LogCaptureFixture
) -> None:
    response = await get(http, host, "/api/raises")

    assert (response.status, await response.read()) == (500, b"")
    assert "Content-Type" not in response.headers
    failures = [record for record in caplog.records if record.name == "Function.raises"]
    assert [record.exc_info is not None for record in failures] == [True]
    assert "outcome=failed" in failures[0].getMessage()


@pytest.mark.parametrize(("name", "status"), [("[x", 400), ("a:b:c", 400), ("a:99999999", 500), ("", 500)])
async def test_an_invalid_host_header_runs_no_function(
    http: ClientSession, host: FunctionsHost, caplog: pytest.LogCaptureFixture, name: str, status: int
) -> None:
    response = await get(http, host, "/api/raises", headers={"Host": name})

    assert response.status == status
    assert not [record for record in caplog.records if record.name == "Function.raises"]


async def test_the_context_has_function_and_invocation(http: ClientSession, host: FunctionsHost, app_dir: Path) -> None:
    headers = {"traceparent": f"00-{'a' * 32}-{'b' * 16}-01", "tracestate": "x=y"}
    one, other = [
        await (await get(http, host, "/api/context", headers=headers)).json(content_type=None) for _ in range(2)
    ]

    assert (one["name"], one["directory"], one["retries"]) == ("see_context", str(app_dir), [0, 0])
    assert (one["parent"], one["state"]) == ("", "")
    assert one["id"] != other["id"]
    assert await (await get(http, host, "/api/thread")).text() == "same"


async def test_with_telemetry_the_context_has_a_span_in_the_trace_of_the_caller(
    http: ClientSession, app_dir: Path
) -> None:
    parent = f"00-{'a' * 32}-{'b' * 16}-00"
    async with running(app_dir, {"AzureFunctionsJobHost__telemetryMode": "OpenTelemetry"}) as host:
        headers = {"traceparent": parent, "tracestate": "x=y"}
        continued = await (await get(http, host, "/api/context", headers=headers)).json(content_type=None)
        new = [await (await get(http, host, "/api/context")).json(content_type=None) for _ in range(2)]

    assert re.fullmatch(f"00-{'a' * 32}-[0-9a-f]{{16}}-00", continued["parent"])
    assert (continued["parent"] != parent, continued["state"]) == (True, "x=y")
    assert all(re.fullmatch("00-[0-9a-f]{32}-[0-9a-f]{16}-01", context["parent"]) for context in new)
    assert new[0]["parent"] != new[1]["parent"]


async def test_an_output_parameter_is_the_response(http: ClientSession, host: FunctionsHost) -> None:
    response = await get(http, host, "/api/out")

    assert (response.status, await response.text()) == (202, "set")


async def test_the_home_page_can_be_disabled(http: ClientSession, tmp_path: Path, host: FunctionsHost) -> None:
    assert (await get(http, host, "/")).headers["Content-Type"].startswith("text/html")
    async with running(write_app(tmp_path, ""), {"AzureWebJobsDisableHomepage": "true"}) as bare:
        assert (await get(http, bare, "/")).status == 204


async def test_the_route_prefix_can_be_removed(http: ClientSession, tmp_path: Path) -> None:
    app_dir = write_app(tmp_path, "@app.route(route='/{*p}')\ndef f(req): return 'x'\n")
    (app_dir / "host.json").write_text('{"version": "2.0", "extensions": {"http": {"routePrefix": ""}}}')
    async with running(app_dir) as host:
        statuses = [(await get(http, host, path)).status for path in ("/", "/a/b", "/a//b", "//", "//a")]

    # No route matches an empty first segment (aspnetcore Routing/RoutePatternMatcher.cs).
    assert statuses == [200, 200, 200, 404, 404]


async def test_a_body_over_the_limit_returns_500(http: ClientSession, app_dir: Path) -> None:
    async with running(app_dir, {"FUNCTIONS_REQUEST_BODY_SIZE_LIMIT": "10"}) as host:
        assert (await get(http, host, "/api/echo", "POST", data=b"x" * 10)).status == 200
        assert (await get(http, host, "/api/echo", "POST", data=b"x" * 11)).status == 500
        assert (await get(http, host, "/api/echo", "POST", data=io.BytesIO(b"x" * 5_000_000))).status == 500


async def test_preflights_are_handled_only_if_cors_is_configured(
    http: ClientSession, app_dir: Path, host: FunctionsHost
) -> None:
    preflight = {
        "Origin": "http://shop",
        "Access-Control-Request-Method": "PUT",
        "Access-Control-Request-Headers": "x-a",
    }
    assert (await get(http, host, "/api/items/1", "OPTIONS", headers=preflight)).status == 404

    async with running(app_dir, cors="http://shop,http://other", cors_credentials=True) as guarded:
        allowed = await get(http, guarded, "/api/items/1", "OPTIONS", headers=preflight)
        refused = await get(http, guarded, "/api/items/1", "OPTIONS", headers={**preflight, "Origin": "http://bad"})
        simple = await get(http, guarded, "/api/items/1", headers={"Origin": "http://shop"})
        other = await get(http, guarded, "/api/items/1", headers={"Origin": "http://bad"})

    assert (allowed.status, refused.status) == (204, 204)
    assert allowed.headers["Access-Control-Allow-Origin"] == "http://shop"
    assert allowed.headers["Access-Control-Allow-Methods"] == "PUT"
    assert allowed.headers["Access-Control-Allow-Headers"] == "x-a"
    assert "Access-Control-Allow-Origin" not in refused.headers
    assert simple.headers["Access-Control-Allow-Credentials"] == "true"
    assert (other.status, "Access-Control-Allow-Origin" in other.headers) == (200, False)


async def test_cors_rejects_credentials_for_all_origins(app_dir: Path) -> None:
    with pytest.raises(HostStartError, match="CORS"):
        async with running(app_dir, cors="*", cors_credentials=True):
            pass


async def test_custom_headers_are_added_to_every_response(http: ClientSession, tmp_path: Path) -> None:
    app_dir = write_app(tmp_path, "")
    (app_dir / "host.json").write_text('{"version": "2.0", "extensions": {"http": {"customHeaders": {"X-A": "b"}}}}')
    async with running(app_dir) as host:
        assert (await get(http, host, "/api/none")).headers["X-A"] == "b"


async def test_an_asgi_app_is_served_with_an_empty_prefix(http: ClientSession, tmp_path: Path) -> None:
    source = """
async def asgi(scope, receive, send):
    if scope["type"] == "lifespan":
        while True:
            message = await receive()
            await send({"type": message["type"] + ".complete"})
            if message["type"] == "lifespan.shutdown":
                return
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-type", b"text/plain")]})
    await send({"type": "http.response.body", "body": scope["path"].encode()})

app = func.AsgiFunctionApp(asgi, http_auth_level=func.AuthLevel.ANONYMOUS)
app.notify = app.middleware.notify_shutdown
app.startup_task_done = False
"""
    app_dir = write_app(tmp_path, source)
    (app_dir / "host.json").write_text('{"version": "2.0", "extensions": {"http": {"routePrefix": ""}}}')
    async with running(app_dir) as host:
        app = app_module().app
        response = await get(http, host, "/a/b?x=1")
        await app.notify()
        app.startup_task_done = False
        del app

    assert (response.status, await response.text()) == (200, "/a/b")


@pytest.mark.parametrize("path", ["/api/echo", "/admin/functions/echo_all"])
async def test_a_client_that_disconnects_mid_body_logs_no_error(
    http: ClientSession, host: FunctionsHost, caplog: pytest.LogCaptureFixture, path: str
) -> None:
    address = URL(host.url)
    reader, writer = await asyncio.open_connection(address.host, address.port)
    writer.write(f"POST {path} HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\nshort".encode())
    writer.write_eof()

    await asyncio.wait_for(reader.read(), 10)
    writer.close()
    await writer.wait_closed()

    assert (await get(http, host, "/api/echo")).status == 200
    assert [one for one in caplog.records if one.levelname == "ERROR"] == []
