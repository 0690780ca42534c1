"""The admin API: status, functions, manual trigger, drain."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from aiohttp import ClientSession
from tests.running import app_module, eventually, running, write_app

JSON = {"Content-Type": "application/json"}
APP = """
calls = []

@app.route(route="hello")
def hello(req): return "x"

@app.timer_trigger(arg_name="t", schedule="0 0 0 1 1 *")
def yearly(t: func.TimerRequest): calls.append(t.past_due)
"""


async def test_the_admin_api_lists_status_and_functions(tmp_path: Path, http: ClientSession) -> None:
    async with running(write_app(tmp_path, APP)) as host:
        await host.ready()
        status = await (await http.get(f"{host.url}/admin/host/status")).json()
        functions = await (await http.get(f"{host.url}/admin/functions")).json()
        one = await (await http.get(f"{host.url}/admin/functions/YEARLY/status")).json()

    assert status["state"] == "Running"
    assert sorted(function["name"] for function in functions) == ["hello", "yearly"]
    assert one == {"isHttp": False, "isListening": True, "errors": None}


@pytest.mark.parametrize("prefix", ["api", "Shop/v1", ""])
async def test_the_url_of_a_function_has_the_route_prefix(tmp_path: Path, http: ClientSession, prefix: str) -> None:
    app_dir = write_app(tmp_path, "@app.route(route='Orders/{id}')\ndef order(req): return 'x'\n")
    (app_dir / "host.json").write_text(json.dumps({"version": "2.0", "extensions": {"http": {"routePrefix": prefix}}}))
    async with running(app_dir) as host:
        function = await (await http.get(f"{host.url}/admin/functions/order")).json()
        called = await http.get(function["invoke_url_template"].replace("{id}", "1"))

    # The real host writes the whole URL in lowercase letters.
    assert function["invoke_url_template"].endswith("/".join(filter(None, ["", prefix.lower(), "orders/{id}"])))
    assert called.status == 200


async def test_the_admin_api_triggers_a_timer(tmp_path: Path, http: ClientSession) -> None:
    async with running(write_app(tmp_path, APP)) as host:
        url = f"{host.url}/admin/functions"
        statuses = [
            (await http.post(f"{url}/yearly", json={"input": "x"})).status,
            (await http.post(f"{url}/yearly")).status,
            (await http.post(f"{url}/yearly", data=b"{", headers=JSON)).status,
            (await http.post(f"{url}/hello", json={"input": "x"})).status,
            (await http.post(f"{url}/missing", json={"input": "x"})).status,
            (await http.get(f"{host.url}/admin/nothing")).status,
        ]
        await eventually(lambda: app_module().calls)
        calls = app_module().calls

    assert statuses == [202, 415, 400, 202, 404, 404]
    assert calls == [False]


async def test_a_deeply_nested_input_returns_400(tmp_path: Path, http: ClientSession) -> None:
    async with running(write_app(tmp_path, APP)) as host:
        response = await http.post(
            f"{host.url}/admin/functions/yearly", data=b'{"input":' + b"[" * 20_000, headers=JSON
        )

        assert response.status == 400


async def test_drain_stops_the_listeners_but_not_http(tmp_path: Path, http: ClientSession) -> None:
    async with running(write_app(tmp_path, APP)) as host:
        await host.ready()
        drained = await http.post(f"{host.url}/admin/host/drain")
        hello = await http.get(f"{host.url}/api/hello")
        listening = host.is_listening("yearly")

    assert (drained.status, hello.status, listening) == (202, 200, False)
