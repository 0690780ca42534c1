"""Reloading when a source file changes."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from aiohttp import ClientError, ClientSession
from functions_host.reloading import SUPPORTED
from functions_host.source_files import snapshot
from tests.cosmos_apps import Account, trigger
from tests.running import HostProcess, eventually, host_process, write_app

pytestmark = pytest.mark.skipif(not SUPPORTED, reason="Windows cannot replace a process")

SHOW = """
import os
from part import NAME

@app.route(route='x')
def show(req): return f'{NAME} {os.getpid()}'
"""


def name(value: str) -> str:
    return f"NAME = {value!r}\n"


@pytest.fixture
def app_dir(tmp_path: Path) -> Path:
    return write_app(tmp_path / "app", SHOW, part=name("one"))


async def shown(http: ClientSession, host: HostProcess, path: str = "api/x") -> str:
    async with http.get(f"{host.url}/{path}") as response:
        return f"{response.status} {await response.text()}"


def shows(http: ClientSession, host: HostProcess, text: str, path: str = "api/x") -> Callable[[], object]:
    async def matches() -> bool:
        return (await shown(http, host, path)).startswith(text)

    return matches


async def test_a_changed_module_is_loaded_in_the_same_process_on_the_same_port(
    app_dir: Path, http: ClientSession
) -> None:
    async with host_process(app_dir, "a", {}, reload=True) as host:
        for value in ("two", "three"):
            (app_dir / "part.py").write_text(name(value))
            # No request fails: those that arrive during the reload wait.
            await eventually(shows(http, host, f"200 {value} {host.process.pid}"))

        assert "part.py changed; reloading" in host.log.read_text()
        assert await host.terminate() == 0


async def test_a_change_of_the_same_size_within_a_second_is_loaded(app_dir: Path, http: ClientSession) -> None:
    part = app_dir / "part.py"
    async with host_process(app_dir, "a", {"PYTHONDONTWRITEBYTECODE": ""}, reload=True) as host:
        second = part.stat().st_mtime_ns // 10**9 * 10**9
        part.write_text(name("two"))
        os.utime(part, ns=(second, second))

        await eventually(shows(http, host, f"200 two {host.process.pid}"))


@pytest.mark.nightly
async def test_a_new_function_and_new_settings_are_loaded(app_dir: Path, http: ClientSession) -> None:
    async with host_process(app_dir, "a", {}, reload=True) as host:
        (app_dir / "new.py").write_text("import os\nNAME = os.environ.get('GREETING')\n")
        (app_dir / "function_app.py").write_text(
            (app_dir / "function_app.py").read_text().replace("from part", "from new").replace("'x'", "'y'")
        )
        await eventually(shows(http, host, "200 None", "api/y"))
        (app_dir / "local.settings.json").write_text('{"IsEncrypted": false, "Values": {"GREETING": "hi"}}')
        await eventually(shows(http, host, "200 hi", "api/y"))
        (app_dir / "local.settings.json").write_text('{"IsEncrypted": false, "Values": {"GREETING": "hello"}}')
        await eventually(shows(http, host, "200 hello", "api/y"))
        (app_dir / "host.json").write_text('{"version": "2.0", "extensions": {"http": {"routePrefix": "v2"}}}')
        await eventually(shows(http, host, "200 hello", "v2/y"))


@pytest.mark.parametrize(
    ("broken", "reason"),
    [
        ("NAME = (", "SyntaxError"),
        ("import no_such_package", "requirements.txt"),
        ("raise ValueError('at import')", "at import"),
        ("raise SystemExit('NAME is not set')", "NAME is not set"),
    ],
)
async def test_a_broken_change_is_reported_and_the_next_one_recovers(
    app_dir: Path, http: ClientSession, broken: str, reason: str
) -> None:
    async with host_process(app_dir, "a", {}, reload=True) as host:
        (app_dir / "part.py").write_text(broken)

        await eventually(shows(http, host, "503 Function host is not running."))
        log = host.log.read_text()
        assert reason in log
        assert "part.py" in log
        assert "waiting for the next change" in log

        (app_dir / "part.py").write_text(name("fixed"))
        await eventually(shows(http, host, "200 fixed"))
        assert await host.terminate() == 0


@pytest.mark.nightly
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
async def test_signals_stop_a_host_that_waits_for_a_change(
    app_dir: Path, http: ClientSession, number: signal.Signals
) -> None:
    async with host_process(app_dir, "a", {}, reload=True) as host:
        (app_dir / "part.py").write_text("NAME = (")
        await eventually(shows(http, host, "503"))

        host.process.send_signal(number)

        assert await asyncio.wait_for(host.process.wait(), 60) == 0


@pytest.mark.nightly
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
async def test_signals_stop_a_reloaded_host(app_dir: Path, http: ClientSession, number: signal.Signals) -> None:
    async with host_process(app_dir, "a", {}, reload=True) as host:
        (app_dir / "part.py").write_text(name("two"))
        await eventually(shows(http, host, "200 two"))

        host.process.send_signal(number)

        assert await asyncio.wait_for(host.process.wait(), 60) == 0
        assert "Traceback" not in host.log.read_text()


@pytest.mark.nightly
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
async def test_signals_stop_a_host_that_loads_its_app(app_dir: Path, number: signal.Signals) -> None:
    (app_dir / "part.py").write_text("import threading\nopen('loading', 'w').close()\nthreading.Event().wait()\n")
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "functions_host", "--port", "0", "--app-dir", str(app_dir)),
        stderr=asyncio.subprocess.PIPE,
    )
    await eventually((app_dir / "loading").exists)

    process.send_signal(number)
    _, log = await asyncio.wait_for(process.communicate(), 60)

    assert (process.returncode, log) == (0, b"")


@pytest.mark.nightly
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
async def test_a_signal_just_before_the_process_is_replaced_stops_the_host(
    app_dir: Path, number: signal.Signals
) -> None:
    script = app_dir / "function_app.py"
    signal_late = f"""
from functions_host import FunctionsHost

hand_over = FunctionsHost.hand_over

async def hand_over_and_signal(self):
    sockets = await hand_over(self)
    os.kill(os.getpid(), {number.value})
    return sockets

FunctionsHost.hand_over = hand_over_and_signal
"""
    script.write_text(script.read_text() + signal_late)
    async with host_process(app_dir, "a", {}, reload=True) as host:
        (app_dir / "part.py").write_text(name("two"))

        assert await asyncio.wait_for(host.process.wait(), 60) == 0
        assert host.log.read_text().count("listening on") == 1


async def test_output_before_a_reload_is_not_lost(app_dir: Path, http: ClientSession) -> None:
    script = app_dir / "function_app.py"
    script.write_text(script.read_text() + "\nprint('loaded')\n")
    with (app_dir / "output").open("wb") as output:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "functions_host", "--port", "0", "--app-dir", str(app_dir)),
            stdout=output,
            stderr=asyncio.subprocess.PIPE,
        )
    assert process.stderr is not None
    try:
        async for line in process.stderr:
            if b"listening on" in line:
                break
        (app_dir / "part.py").write_text(name("two"))
        await eventually(lambda: (app_dir / "output").read_text() == "loaded\n")
    finally:
        process.terminate()
        await process.wait()


async def test_a_running_request_completes_before_the_reload(app_dir: Path, http: ClientSession) -> None:
    slow = "\n@app.route(route='slow')\nasync def slow(req):\n    open('running', 'w').close()\n"
    slow += "    while not os.path.exists('go'): await asyncio.sleep(0.01)\n    return 'old code'\n"
    source = app_dir / "function_app.py"
    source.write_text(source.read_text().replace("import os", "import asyncio, os") + slow)
    async with host_process(app_dir, "a", {}, reload=True) as host:
        request = asyncio.create_task(shown(http, host, "api/slow"))
        await eventually((app_dir / "running").exists)
        (app_dir / "part.py").write_text(name("two"))
        await eventually(lambda: "changed; reloading" in host.log.read_text())

        (app_dir / "go").touch()

        assert await request == "200 old code"
        await eventually(shows(http, host, "200 two"))


async def test_a_reload_drains_the_batch_and_hands_over_the_lease(tmp_path: Path, account: Account) -> None:
    # The lease would expire after a minute.
    body = """
    open('running', 'w').close()
    while not os.path.exists('go'):
        await asyncio.sleep(0.01)
    with open('calls.jsonl', 'a') as file:
        file.write(json.dumps(['old', ids]) + chr(10))
"""
    source = trigger(start_from_beginning=True, body=body.strip(), lease_expiration_interval=60_000)
    app_dir = write_app(tmp_path, source)
    await account.write("first")

    def calls() -> list[object]:
        path = app_dir / "calls.jsonl"
        return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []

    async with host_process(app_dir, "a", account.environment, reload=True) as host:
        await eventually((app_dir / "running").exists)
        script = app_dir / "function_app.py"
        script.write_text(script.read_text().replace("'old'", "'new'"))
        await eventually(lambda: "changed; reloading" in host.log.read_text())

        (app_dir / "go").touch()
        await eventually(lambda: calls() == [["old", ["first"]]])
        await account.write("second")
        await eventually(lambda: len(calls()) == 2)

        assert calls() == [["old", ["first"]], ["new", ["second"]]]


async def test_a_batch_that_fails_forever_does_not_delay_the_reload(tmp_path: Path, account: Account) -> None:
    retry = "strategy='fixed_delay', max_retry_count='-1', delay_interval='00:01:00'"
    body = "open('calls', 'a').write('x')\n    raise ValueError"
    app_dir = write_app(tmp_path, trigger(start_from_beginning=True, body=body, retry=retry))
    await account.write("first")
    async with host_process(app_dir, "a", account.environment, reload=True):
        await eventually((app_dir / "calls").exists)
        script = app_dir / "function_app.py"
        script.write_text(script.read_text().replace("raise ValueError", "open('fixed', 'w').close()"))

        await eventually((app_dir / "fixed").exists)


async def test_no_reload_ignores_changes(app_dir: Path, http: ClientSession) -> None:
    async with host_process(app_dir, "a", {}) as ignoring, host_process(app_dir, "b", {}, reload=True) as reloading:
        (app_dir / "part.py").write_text(name("two"))
        await eventually(shows(http, reloading, "200 two"))

        assert await shown(http, ignoring) == f"200 one {ignoring.process.pid}"
        assert "reloading" not in ignoring.log.read_text()


async def test_a_held_host_is_held_only_once(app_dir: Path, http: ClientSession) -> None:
    log = app_dir / "held.log"
    with log.open("wb") as stderr:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "functions_host", "--port", "0", "--app-dir", str(app_dir), "--hold"),
            stdin=asyncio.subprocess.PIPE,
            stderr=stderr,
        )
    assert process.stdin is not None
    try:
        process.stdin.write(b"\n")
        url = await eventually(lambda: [w for w in log.read_text().split() if w.startswith("http://")])
        host = HostProcess(process, url[0], log)
        (app_dir / "part.py").write_text(name("two"))
        await eventually(shows(http, host, "200 two"))
    finally:
        process.terminate()
        assert await process.wait() == 0


@pytest.mark.nightly
async def test_connections_are_refused_after_a_reloaded_host_stops(app_dir: Path, http: ClientSession) -> None:
    async with host_process(app_dir, "a", {}, reload=True) as host:
        (app_dir / "part.py").write_text(name("two"))
        await eventually(shows(http, host, "200 two"))
        await host.terminate()

        with pytest.raises(ClientError):
            await shown(http, host)


def test_the_snapshot_covers_sources_and_settings_but_no_environments(tmp_path: Path) -> None:
    watched = [
        "function_app.py",
        "host.json",
        "local.settings.json",
        "shared/model.py",
        "extra/data.txt",
        "extra/a/b.txt",
    ]
    ignored = [
        "readme.md",
        "shared/data.json",
        "shared/extra/data.txt",
        "nested/extra/data.txt",
        ".venv/lib/a.py",
        ".git/hooks/b.py",
        "env/lib/c.py",
        "env/pyvenv.cfg",
        "node_modules/d.py",
        "__pycache__/e.py",
    ]
    for file in (*watched, *ignored):
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / file).write_text("{}")
    # As in the real host, a path of several directories matches nothing.
    document = {"version": "2.0", "watchDirectories": ["extra", "nested/extra"], "watchFiles": ["X.csv"]}
    (tmp_path / "host.json").write_text(json.dumps(document))
    (tmp_path / "shared" / "x.CSV").write_text("")

    found = {os.path.relpath(path, tmp_path) for path in snapshot(tmp_path)}

    assert found == {*watched, "shared/x.CSV"}
