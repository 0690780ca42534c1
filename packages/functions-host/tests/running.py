"""Run hosts in tests, in this process or as a process that can be killed."""

from __future__ import annotations

import asyncio
import os
import sys
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from aiohttp import ClientSession
from functions_host import FunctionsHost, HostSettings

needs_sigterm = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGTERM")

HEADER = "import azure.functions as func\napp = func.FunctionApp(http_auth_level=func.AuthLevel.ANONYMOUS)\n"


def write_app(directory: Path, source: str, **files: str) -> Path:
    """Write an app whose `function_app.py` is `HEADER` and `source`. `files` adds modules by stem."""
    directory.mkdir(parents=True, exist_ok=True)
    (directory / "function_app.py").write_text(HEADER + source)
    for stem, text in files.items():
        (directory / f"{stem}.py").write_text(text)
    return directory


def settings(app_dir: Path, environment: Mapping[str, str] | None = None, **changes: Any) -> HostSettings:
    return HostSettings(app_dir=app_dir, port=0, environment=environment or {}, **changes)


@asynccontextmanager
async def running(
    app_dir: Path, environment: Mapping[str, str] | None = None, **changes: Any
) -> AsyncIterator[FunctionsHost]:
    """Run a host in this process."""
    async with FunctionsHost(settings(app_dir, environment, **changes)) as host:
        yield host


def app_module() -> ModuleType:
    """Return the module of the app that runs in this process."""
    return sys.modules["function_app"]


async def eventually(condition: Callable[[], Any], deadline_s: float = 60.0) -> Any:
    """Poll until `condition`, sync or async, returns a true value, and return it."""
    end = time.monotonic() + deadline_s
    while time.monotonic() < end:
        found = condition()
        if asyncio.iscoroutine(found):
            found = await found
        if found:
            return found
        await asyncio.sleep(0.02)
    raise AssertionError("the condition did not become true in time")


class HostProcess:
    def __init__(self, process: asyncio.subprocess.Process, url: str, log: Path) -> None:
        self.process = process
        self.url = url
        self.log = log

    async def kill(self) -> None:
        """Send SIGKILL, so the host cannot release anything."""
        self.process.kill()
        await self.process.wait()

    async def terminate(self) -> int:
        """Send SIGTERM and return the exit code."""
        self.process.terminate()
        return await asyncio.wait_for(self.process.wait(), 60)


@asynccontextmanager
async def host_process(
    app_dir: Path,
    name: str,
    environment: Mapping[str, str],
    *options: str,
    reload: bool = False,
    wait: bool = True,
    launcher: Sequence[str] = (),
) -> AsyncIterator[HostProcess]:
    """Run a host until it listens and, if `wait`, its triggers do. Kill it at the end.

    `launcher` is a command that gets the host's command as its arguments.
    """
    log = app_dir / f"{name}.log"
    with log.open("wb") as stderr:
        process = await asyncio.create_subprocess_exec(
            *launcher,
            sys.executable,
            *("-m", "functions_host", "--port", "0", "--app-dir", str(app_dir), *options),
            *(() if reload else ("--no-reload",)),
            env={**os.environ, "HOST_NAME": name, **environment},
            stderr=stderr,
        )
    try:
        url = await eventually(lambda: _url(process, log))
        async with ClientSession() as session:
            await eventually(lambda: not wait or _all_listen(session, url))
        yield HostProcess(process, url, log)
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()


def _url(process: asyncio.subprocess.Process, log: Path) -> str | None:
    assert process.returncode is None, log.read_text()
    return next((line.split()[-1] for line in log.read_text().splitlines() if "listening on" in line), None)


async def _all_listen(session: ClientSession, url: str) -> bool:
    functions = await (await session.get(f"{url}/admin/functions")).json()
    for function in functions:
        if function["isDisabled"]:
            continue
        response = await session.get(f"{url}/admin/functions/{function['name']}/status")
        if not (await response.json())["isListening"]:
            return False
    return True
