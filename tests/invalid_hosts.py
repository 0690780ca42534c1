"""Host headers of which no URL can be made."""

from __future__ import annotations

import json

import azure.functions as func
from azure.functions.decorators.function_app import FunctionBuilder

from tests.functions.invocations import UNTRACED
from tests.raw_http import raw
from tests.running_app import RunningApp


async def assert_invalid_hosts_are_refused(app: RunningApp, path: str) -> None:
    """Send invalid Host headers to a path. The responses are errors, and no traceback is logged."""
    before = len(app.log_lines(containing="Traceback"))

    refused = dict.fromkeys((b"[::1", b"[x]", b"]", b"\xff", "ä".encode()), b"400")
    # Microsoft's host cannot make a URL of these for the app.
    for host, status in {**refused, b"a:99999": b"500", b"[::::]": b"500"}.items():
        lines = [f"GET {path} HTTP/1.1".encode(), b"Host: " + host, b"Connection: close", b"", b""]
        assert (await raw(app, b"\r\n".join(lines))).split()[1] == status, host

    assert len(app.log_lines(containing="Traceback")) == before


async def assert_function_refuses_invalid_hosts(function: FunctionBuilder, path: str) -> None:
    """Call a function with URLs that the host refuses. Hosts differ in what they let through."""
    run = function.build().get_user_function()

    for host in ("[::1", "[x]", "]", "a:99999", "\udcff", "ä", "[::::]", "a:b"):
        request = func.HttpRequest("GET", f"http://{host}{path}?x=/", route_params={"postId": "p"}, body=b"")
        answer = await run(request, UNTRACED)
        assert answer.status_code == 400, host
        assert json.loads(answer.get_body())["instance"] == path
