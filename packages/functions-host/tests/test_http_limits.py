"""HTTP limits: request queue, threads, shutdown."""

from __future__ import annotations

import asyncio
import re
import time
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from aiohttp import ClientError, ClientResponse, ClientSession
from functions_host import FunctionsHost
from tests.running import app_module, eventually, running, settings, write_app

GATE = """
import asyncio
running, most = 0, 0
gate = asyncio.Event()

@app.route(route="wait")
async def wait(req):
    global running, most
    running += 1
    most = max(most, running)
    await gate.wait()
    running -= 1
    return "done"
"""


async def get(http: ClientSession, url: str) -> ClientResponse:
    response = await http.get(url)
    await response.read()
    return response


async def test_requests_beyond_the_queue_return_429(http: ClientSession, tmp_path: Path) -> None:
    app_dir = write_app(tmp_path, GATE)
    limits = '"maxConcurrentRequests": 2, "maxOutstandingRequests": 3'
    (app_dir / "host.json").write_text(f'{{"version": "2.0", "extensions": {{"http": {{{limits}}}}}}}')
    async with running(app_dir) as host:
        calls = [asyncio.create_task(get(http, f"{host.url}/api/wait")) for _ in range(5)]
        refused, _ = await asyncio.wait(calls, return_when=asyncio.FIRST_COMPLETED)
        while len(refused) < 2:
            refused, _ = await asyncio.wait(calls, timeout=0.05)
        assert (await get(http, f"{host.url}/admin/host/status")).status == 200
        app_module().gate.set()
        responses = await asyncio.gather(*calls)
        assert app_module().most == 2

    assert sorted(response.status for response in responses) == [200, 200, 200, 429, 429]
    assert {r.headers.get("X-FUNCTION-SCALEOUT") for r in responses if r.status == 429} == {"1"}


LEFT = """
import threading
calls = []
gate = threading.Event()

@app.route(route="called/{by}", methods=["POST"])
def called(req):
    calls.append(req.route_params["by"])
    gate.wait()
"""


@pytest.mark.parametrize("sends", ["true", "false"])
async def test_a_call_whose_client_has_left_is_dropped_only_on_request(
    http: ClientSession, tmp_path: Path, sends: str, caplog: pytest.LogCaptureFixture
) -> None:
    changes = {
        "AzureFunctionsJobHost__SendCanceledInvocationsToWorker": sends,
        "AzureFunctionsJobHost__extensions__http__maxConcurrentRequests": "1",
    }
    async with running(write_app(tmp_path, LEFT), changes) as host:
        first = asyncio.create_task(http.post(f"{host.url}/api/called/first"))
        calls = app_module().calls
        await eventually(lambda: calls == ["first"])
        _, client = await asyncio.open_connection("127.0.0.1", urlsplit(host.url).port)
        client.write(b"POST /api/called/second HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n")
        client.close()
        await client.wait_closed()
        # On later connections, so the host has seen the end of the second one.
        for _ in range(2):
            await get(http, f"{host.url}/admin/host/ping")
        app_module().gate.set()
        await first
        await eventually(lambda: calls == ["first", "second"] or "function=called is not called" in caplog.text)

    assert calls == (["first", "second"] if sends == "true" else ["first"])


async def test_stop_refuses_connections_and_waits_for_running_requests(http: ClientSession, tmp_path: Path) -> None:
    host = FunctionsHost(settings(write_app(tmp_path, GATE)))
    await host.start()
    call = asyncio.create_task(get(http, f"{host.url}/api/wait"))
    module = app_module()
    await eventually(lambda: module.running)

    stop = asyncio.create_task(host.stop())
    # asyncio leaks a connection that it accepts in the iteration that closes the socket.
    await eventually(lambda: host.state == "Stopping")
    await eventually(lambda: is_refused(host.url))
    assert not stop.done()
    module.gate.set()
    await stop

    assert (await call).status == 200


SLOW = """
import asyncio
import threading
gate = threading.Event()
running = 0

@app.route(route="slow")
{definition} slow(req):
    global running
    running += 1
    {wait}

@app.timer_trigger(arg_name="timer", schedule="0 0 0 1 1 *")
{definition} tick(timer):
    {wait}
"""


@pytest.mark.parametrize(("definition", "wait"), [("def", "gate.wait()"), ("async def", "await asyncio.sleep(600)")])
async def test_stop_waits_once_for_all_running_calls_and_names_those_it_aborts(
    http: ClientSession, tmp_path: Path, caplog: pytest.LogCaptureFixture, definition: str, wait: str
) -> None:
    source = SLOW.format(definition=definition, wait=wait)
    host = FunctionsHost(settings(write_app(tmp_path, source), grace_s=3))
    await host.start()
    call = asyncio.create_task(get(http, f"{host.url}/api/slow"))
    module = app_module()
    await eventually(lambda: module.running)
    host.trigger(host.functions["tick"], "")
    await eventually(lambda: sorted(host.running_calls) == ["slow", "tick"])
    began = time.monotonic()

    await host.stop()
    took_s = time.monotonic() - began
    module.gate.set()

    assert 3 <= took_s < 5.5
    with pytest.raises(ClientError):
        await call
    assert re.search("function=slow .* outcome=aborted", caplog.text)
    assert re.search("function=tick .* outcome=aborted", caplog.text)


async def is_refused(url: str) -> bool:
    try:
        _, writer = await asyncio.open_connection("127.0.0.1", urlsplit(url).port)
    except ConnectionRefusedError:
        return True
    writer.close()
    return False


async def test_sync_functions_run_concurrently_up_to_the_thread_count(http: ClientSession, tmp_path: Path) -> None:
    source = """
import threading
barrier = threading.Barrier(3)

@app.route(route="meet")
def meet(req):
    barrier.wait(timeout=5)
    return "met"
"""
    app_dir = write_app(tmp_path, source)
    async with running(app_dir, {"PYTHON_THREADPOOL_THREAD_COUNT": "3"}) as host:
        met = await asyncio.gather(*(get(http, f"{host.url}/api/meet") for _ in range(3)))

    assert [response.status for response in met] == [200, 200, 200]
