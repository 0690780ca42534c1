"""`python -m local` starts an emulator and a Functions host, and stops both."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from aiohttp import ClientConnectionError, ClientSession

from checks.chaos.ports import free_port
from local.stack import StackError, StackSettings, _require_free
from tests.polling import eventually

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGTERM, which stops the whole stack")

REPOSITORY = Path(__file__).parents[2]

APP = "@app.route(route='hello')\ndef hello(req): return 'hello'\n"
# Responds with the content of a file that manage.py writes.
APP_AFTER_PROVISIONING = (
    "from pathlib import Path\n@app.route(route='hello')\ndef hello(req): return Path('provisioned').read_text()\n"
)
MANAGE = "import sys\nfrom pathlib import Path\nPath('provisioned').write_text(' '.join(sys.argv[1:]))\n"


def write_app(directory: Path, source: str, **files: str) -> Path:
    """Write an app. `function_app.py` creates `app` and then runs `source`; `files` maps stems to contents."""
    header = "import azure.functions as func\napp = func.FunctionApp(http_auth_level=func.AuthLevel.ANONYMOUS)\n"
    (directory / "function_app.py").write_text(header + source)
    for stem, text in files.items():
        (directory / f"{stem}.py").write_text(text)
    return directory


@dataclass(frozen=True)
class Stack:
    process: asyncio.subprocess.Process
    url: str
    cosmos_url: str

    async def end(self) -> tuple[int, str]:
        """Send SIGTERM; return the exit code and the output."""
        self.process.terminate()
        return await self.ended()

    async def ended(self) -> tuple[int, str]:
        output, _ = await asyncio.wait_for(self.process.communicate(), 60)
        assert self.process.returncode is not None
        return self.process.returncode, output.decode()


@asynccontextmanager
async def stack(app_dir: Path, *options: str) -> AsyncIterator[Stack]:
    """A stack on two free ports, with its output captured."""
    port, cosmos_port = free_port(), free_port()
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "local", "--memory", "--app-dir", str(app_dir)),
        *("--port", str(port), "--cosmos-port", str(cosmos_port), *options),
        cwd=REPOSITORY,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
        start_new_session=True,  # as in a terminal, Ctrl-C reaches the whole group
    )
    try:
        yield Stack(process, f"http://localhost:{port}", f"http://localhost:{cosmos_port}")
    finally:
        if process.returncode is None:
            process.terminate()
        await process.wait()


@pytest.fixture
async def http() -> AsyncIterator[ClientSession]:
    async with ClientSession() as session:
        yield session


async def body_of(http: ClientSession, url: str) -> str | None:
    """The body of a 200 response, or None."""
    try:
        async with http.get(url) as response:
            return await response.text() if response.status == 200 else None
    except ClientConnectionError:
        return None


async def test_a_signal_stops_the_host_and_the_emulator(tmp_path: Path, http: ClientSession) -> None:
    async with stack(write_app(tmp_path, APP)) as running:
        assert await eventually(lambda: body_of(http, f"{running.url}/api/hello")) == "hello"
        async with http.get(f"{running.cosmos_url}/") as unsigned:
            assert unsigned.status == 401

        status, output = await running.end()

        assert (status, "Stopping." in output) == (0, True)
        for url in (running.url, running.cosmos_url):
            with pytest.raises(ClientConnectionError):
                await http.get(url)


async def test_a_killed_stack_leaves_nothing_running(tmp_path: Path, http: ClientSession) -> None:
    app_dir = write_app(tmp_path, APP)
    async with stack(app_dir) as running:
        await eventually(lambda: body_of(http, f"{running.url}/api/hello"))
        write_app(tmp_path, APP.replace("return 'hello'", "return 'edited'"))

        async def is_reloaded() -> bool:
            return await body_of(http, f"{running.url}/api/hello") == "edited"

        await eventually(is_reloaded)
        running.process.kill()
        # Host and emulator have the stack's output open, which therefore ends with the last of them.
        await running.ended()

        for url in (running.url, running.cosmos_url):
            with pytest.raises(ClientConnectionError):
                await http.get(url)


@pytest.mark.parametrize("options", [(), ("--verbose",)], ids=["quiet", "verbose"])
async def test_requests_are_logged_only_if_asked_for(
    tmp_path: Path, http: ClientSession, options: tuple[str, ...]
) -> None:
    logs = "    logging.getLogger('blog').info('an info')\n    logging.getLogger('blog').error('an error')\n"
    app = "import logging\n@app.route(route='hello')\ndef hello(req):\n" + logs + "    return 'hello'\n"
    async with stack(write_app(tmp_path, app), *options) as running:
        await eventually(lambda: body_of(http, f"{running.url}/api/hello"))
        _, output = await running.end()

    assert "an error" in output
    assert ("an info" in output) == bool(options)
    assert "functions:" not in output


@pytest.mark.parametrize(
    ("family", "address"),
    [
        (socket.AF_INET, "127.0.0.1"),
        pytest.param(socket.AF_INET6, "::1", marks=pytest.mark.skipif(not socket.has_ipv6, reason="needs IPv6")),
    ],
)
async def test_a_port_in_use_is_reported_with_its_process(
    tmp_path: Path, family: socket.AddressFamily, address: str
) -> None:
    with socket.create_server((address, 0), family=family) as used:
        async with stack(write_app(tmp_path, APP), "--port", str(used.getsockname()[1])) as failing:
            status, output = await failing.ended()

    assert status == 1
    assert f"is in use by process {os.getpid()} (" in output
    assert "(make run PORT=" in output


async def test_an_edit_reloads_the_app_and_restarts_nothing(tmp_path: Path, http: ClientSession) -> None:
    app_dir = write_app(tmp_path, APP)
    async with stack(app_dir) as running:
        await eventually(lambda: body_of(http, f"{running.url}/api/hello"))
        write_app(tmp_path, APP.replace("return 'hello'", "return 'edited'"))

        async def shows_the_edit() -> bool:
            return await body_of(http, f"{running.url}/api/hello") == "edited"

        await eventually(shows_the_edit)
        status, output = await running.end()

        assert (status, "function_app.py changed; reloading" in output) == (0, True)
        assert output.index("reloading") < output.index("reloaded")
        # The addresses in the list are the only ones.
        assert (output.count(running.url), output.count(running.cosmos_url), "127.0.0.1" in output) == (0, 1, False)
        assert "restarting" not in output
        with pytest.raises(ClientConnectionError):
            await http.get(running.url)


@pytest.mark.nightly
async def test_the_host_is_restarted_after_a_function_exceeds_its_timeout(tmp_path: Path, http: ClientSession) -> None:
    app_dir = write_app(
        tmp_path, APP + "@app.route(route='hang')\ndef hang(req):\n    import time\n    time.sleep(60)\n"
    )
    (app_dir / "host.json").write_text('{"version": "2.0", "functionTimeout": "00:00:01"}')
    async with stack(app_dir) as running:
        await eventually(lambda: body_of(http, f"{running.url}/api/hello"))
        assert await body_of(http, f"{running.url}/api/hang") is None

        assert await eventually(lambda: body_of(http, f"{running.url}/api/hello")) == "hello"

        _, output = await running.end()
        assert "exceeded by function 'hang'" in output
        assert "the Functions host ended with status 1; restarting in 0.5 s" in output


async def test_the_app_responds_only_after_its_database_is_provisioned(tmp_path: Path, http: ClientSession) -> None:
    app_dir = write_app(tmp_path, APP_AFTER_PROVISIONING, manage=MANAGE)
    async with stack(app_dir, "--seed") as running:
        assert await eventually(lambda: body_of(http, f"{running.url}/api/hello")) == "provision --seed"


@pytest.mark.parametrize(("text", "complaint"), [("{", "cannot be read"), ('{"IsEncrypted": true}', "is encrypted")])
async def test_an_unusable_settings_file_is_reported(tmp_path: Path, text: str, complaint: str) -> None:
    (write_app(tmp_path, APP) / "local.settings.json").write_text(text, encoding="utf-8")

    async with stack(tmp_path) as failing:
        status, output = await failing.ended()

    assert (status, complaint in output, "Traceback" in output) == (1, True, False)


async def test_all_invalid_settings_are_named_in_one_sentence(tmp_path: Path) -> None:
    shutil.copytree(REPOSITORY / "shared", tmp_path / "shared")
    values = {"BLOG_AUTH": "x", "BLOG_TRANSACTIONS": "y", "BLOG_DATABASE": "blog"}
    (tmp_path / "local.settings.json").write_text(json.dumps({"Values": values}))

    async with stack(
        write_app(tmp_path, "from shared.platform.settings import app_settings\napp_settings()\n")
    ) as failing:
        status, output = await failing.ended()

    assert (status, output.splitlines()) == (
        1,
        [
            "The local stack cannot start: The settings are incomplete: set BLOG_AUTH to one of function-key,"
            " app-service; set BLOG_TRANSACTIONS to batch or procedure."
        ],
    )


async def test_ctrl_c_during_provisioning_shows_no_traceback(tmp_path: Path) -> None:
    hanging = "import time\nopen('begun', 'w').close()\ntime.sleep(60)\n"
    app_dir = write_app(tmp_path, APP, manage=hanging)
    async with stack(app_dir, "--seed") as starting:
        await eventually((app_dir / "begun").exists)
        os.killpg(starting.process.pid, signal.SIGINT)
        status, output = await starting.ended()

    assert (status, "Traceback" in output) == (0, False)
    assert "The sample data is incomplete; the next start adds the rest." in output


async def test_a_failed_provisioning_stops_the_stack(tmp_path: Path, http: ClientSession) -> None:
    async with stack(write_app(tmp_path, APP, manage="raise SystemExit(3)")) as failing:
        status, output = await failing.ended()

        assert (status, "manage.py provision failed with status 3" in output) == (1, True)
        with pytest.raises(ClientConnectionError):
            await http.get(failing.cosmos_url)


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        (("--port", "99999"), "--port must be from 1 to 65535"),
        (("--cosmos-port", "99999"), "--cosmos-port must be from 1 to 65535"),
        (("--port", "19001", "--cosmos-port", "19001", "--memory"), "--port and --cosmos-port must differ"),
        (("--port", "8081"), "--port and --cosmos-port must differ"),
    ],
)
def test_ports_that_cannot_work_are_refused(tmp_path: Path, options: tuple[str, ...], complaint: str) -> None:
    command = [sys.executable, "-m", "local", "--app-dir", str(write_app(tmp_path, APP)), *options]

    ended = subprocess.run(  # noqa: S603 - fixed arguments
        command, cwd=REPOSITORY, capture_output=True, text=True, timeout=60, check=False
    )

    assert (ended.returncode, ended.stdout, ended.stderr) == (1, "", f"python -m local: error: {complaint}\n")


def test_a_port_in_use_is_found_on_windows(monkeypatch: pytest.MonkeyPatch) -> None:
    """There, SO_REUSEADDR would let the check bind a port that another process uses.

    https://learn.microsoft.com/windows/win32/winsock/using-so-reuseaddr-and-so-exclusiveaddruse
    """
    options: list[int] = []

    class RecordingSocket(socket.socket):
        def setsockopt(self, level: int, option: int, *value: Any) -> None:
            options.append(option)
            super().setsockopt(level, option, *value)

    with socket.create_server(("127.0.0.1", 0)) as used:
        monkeypatch.setattr(socket, "os", SimpleNamespace(name="nt"))
        monkeypatch.setattr(socket, "socket", RecordingSocket)
        with pytest.raises(StackError, match="is in use"):
            _require_free("--port", used.getsockname()[1])

    assert socket.SO_REUSEADDR not in options


async def test_an_app_that_cannot_be_loaded_stops_the_stack(tmp_path: Path) -> None:
    async with stack(write_app(tmp_path, "app = None\n")) as failing:
        status, output = await failing.ended()

    assert status == 1
    assert "Could not find top level function app" in output
    assert "the Functions host ended during startup with status 1" in output


async def test_a_held_host_loads_its_app_and_stops_when_its_input_closes(tmp_path: Path) -> None:
    app_dir = write_app(tmp_path, APP + "print('loaded', flush=True)\n")
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "functions_host", "--port", "0", "--no-reload", "--hold", "--app-dir", str(app_dir)),
        cwd=REPOSITORY,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    assert await process.stdout.readline() == b"loaded\n"

    process.stdin.close()
    _, log = await asyncio.wait_for(process.communicate(), 60)

    assert process.returncode == 0
    assert b"listening on" not in log


@pytest.mark.parametrize(
    ("cosmos", "database", "ignored"),
    [
        ("example", "blog", []),
        ("example", "other", ["BLOG_DATABASE"]),
        ("another account", "blog", ["COSMOS"]),
        (None, None, []),
    ],
)
def test_only_settings_that_somebody_changed_are_reported_as_ignored(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cosmos: str | None, database: str | None, ignored: list[str]
) -> None:
    monkeypatch.setenv("BLOG_DATABASE", "blog")
    example = tmp_path / "local" / "local.settings.example.json"
    example.parent.mkdir()
    example.write_text('{"Values": {"COSMOS": "example"}}')
    values = {"COSMOS": cosmos, "BLOG_DATABASE": database}
    (tmp_path / "local.settings.json").write_text(json.dumps({"Values": values}))

    settings = StackSettings(tmp_path, port=1, cosmos_port=2, data_dir=None, seed=False)

    assert settings.ignored == ignored


def test_settings_that_are_not_text_become_text_as_in_the_host(tmp_path: Path) -> None:
    file = '{"Values": {"FLAG": true, "NUMBER": 1, "TEXT": "x", "NOTHING": null}}'
    (tmp_path / "local.settings.json").write_text(file, encoding="utf-8-sig")

    environment = StackSettings(tmp_path, port=1, cosmos_port=2, data_dir=None, seed=False).environment

    found = {name: environment.get(name) for name in ("FLAG", "NUMBER", "TEXT", "NOTHING")}
    assert found == {"FLAG": "true", "NUMBER": "1", "TEXT": "x", "NOTHING": None}
