"""HTTP defaults of an app without settings: concurrency, route order."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

import pytest
from aiohttp import ClientSession
from functions_host.host_json import HostConfig
from tests.running import app_module, eventually, running, write_app

GATHERING = """
import asyncio
import threading
inside = 0
gate = threading.Event()
loops = set()

@app.route(route="thread")
def in_a_thread(req):
    global inside
    inside += 1
    gate.wait()
    return "done"

@app.route(route="loop")
async def on_the_loop(req):
    global inside
    inside += 1
    loops.add(asyncio.get_running_loop())
    while not gate.is_set():
        await asyncio.sleep(0.01)
    return "done"
"""

# By code point, B_second would sort before a_first.
IN_ORDER = """
@app.route(route="{anything}")
def B_second(req): return "second"

@app.route(route="one")
def a_first(req): return "first"
"""


async def test_coroutines_run_concurrently_on_one_loop_without_a_limit(http: ClientSession, tmp_path: Path) -> None:
    async with running(write_app(tmp_path, GATHERING)) as host:
        calls = [asyncio.create_task(_status(http, f"{host.url}/api/loop")) for _ in range(90)]
        await eventually(lambda: app_module().inside == 90)
        app_module().gate.set()

        assert set(await asyncio.gather(*calls)) == {200}
        assert app_module().loops == {asyncio.get_running_loop()}


async def test_a_hundred_sync_functions_run_at_once(http: ClientSession, tmp_path: Path) -> None:
    async with running(write_app(tmp_path, GATHERING)) as host:
        calls = [asyncio.create_task(_status(http, f"{host.url}/api/thread")) for _ in range(100)]
        try:
            await eventually(lambda: app_module().inside == 100)
        finally:
            app_module().gate.set()

        assert set(await asyncio.gather(*calls)) == {200}


@pytest.mark.parametrize("count", [0, "many"])
async def test_an_invalid_thread_count_means_pythons_default(
    http: ClientSession, tmp_path: Path, count: object
) -> None:
    threads = min(32, (os.cpu_count() or 1) + 4)
    async with running(write_app(tmp_path, GATHERING), {"PYTHON_THREADPOOL_THREAD_COUNT": str(count)}) as host:
        calls = [asyncio.create_task(_status(http, f"{host.url}/api/thread")) for _ in range(threads + 3)]
        try:
            await eventually(lambda: app_module().inside == threads)
            # When another request returns, the loop has read all of them; those over the limit still wait.
            await _status(http, f"{host.url}/admin/host/status")
            assert app_module().inside == threads
        finally:
            app_module().gate.set()

        assert set(await asyncio.gather(*calls)) == {200}


async def test_routes_are_tried_in_name_order_ignoring_case(http: ClientSession, tmp_path: Path) -> None:
    async with running(write_app(tmp_path, IN_ORDER)) as host:
        assert await (await http.get(f"{host.url}/api/one")).text() == "first"
        assert await (await http.get(f"{host.url}/api/two")).text() == "second"


def test_bodies_are_limited_to_100_mib_and_requests_are_not_queued() -> None:
    config = HostConfig()

    assert config.body_limit == 104_857_600
    assert (config.max_outstanding_requests, config.max_concurrent_requests) == (-1, -1)


async def _status(http: ClientSession, url: str) -> int:
    async with http.get(url) as response:
        return response.status
