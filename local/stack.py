"""Starts the emulator, provisions the database, starts the Functions host, and stops them in reverse order.

The emulator and the host are restarted if they exit. If the app has a `manage.py`, it provisions the database.
"""

from __future__ import annotations

import asyncio
import errno
import http.client
import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from urllib.request import urlopen

import psutil
from cosmos_emulator import WELL_KNOWN_KEY

from management.local_settings import NAME, announced, local_settings

_REPOSITORY = Path(__file__).parent.parent
_EXAMPLE = Path("local") / "local.settings.example.json"
_START_TIMEOUT_S = 60.0
_STOP_TIMEOUT_S = 15.0
_POLL_S = 0.05
# Delays after consecutive exits. A process that ran for _STABLE_S starts again with the first delay.
_RESTART_DELAYS_S = (0.5, 1, 2, 4, 8)
_STABLE_S = 30.0
# A new session, or process group on Windows: the stack stops its processes in order.
_UNREACHED_BY_CTRL_C: dict[str, Any] = {
    "start_new_session": True,
    "creationflags": getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0),
}

Say = Callable[[str], None]


class StackError(Exception):
    """The stack cannot start; the message says why."""


@dataclass(frozen=True)
class StackSettings:
    """Options of `python -m local`. Without `data_dir`, data is kept in memory."""

    app_dir: Path
    port: int
    cosmos_port: int
    data_dir: Path | None
    seed: bool
    verbose: bool = False

    @property
    def url(self) -> str:
        return f"http://localhost:{self.port}"

    @property
    def cosmos_url(self) -> str:
        return f"http://localhost:{self.cosmos_port}"

    @property
    def environment(self) -> dict[str, str]:
        """Environment of the app and its manage.py.

        The process environment overrides local.settings.json or, if that is missing, local.settings.example.json in
        local/. The connection string is always the emulator's. The inspector, the search and the moderation are enabled
        unless one of them says otherwise, and the app logs only warnings unless the stack is `verbose`. Raises
        LocalSettingsError.
        """
        return {
            "BLOG_INSPECTOR": "1",
            "BLOG_SEARCH": "1",
            "BLOG_MODERATION": "1",
            "AzureFunctionsJobHost__logging__logLevel__blog": "Information" if self.verbose else "Warning",
            **local_settings(file if (file := self.app_dir / NAME).is_file() else self.app_dir / _EXAMPLE),
            **os.environ,
            "COSMOS": f"AccountEndpoint={self.cosmos_url}/;AccountKey={WELL_KNOWN_KEY};",
            "PYTHONUNBUFFERED": "1",
        }

    @property
    def ignored(self) -> list[str]:
        """The settings in local.settings.json that have another value here. The example's account is nobody's choice.

        Raises LocalSettingsError.
        """
        used, examples = self.environment, local_settings(self.app_dir / _EXAMPLE)
        return [
            name
            for name, value in local_settings(self.app_dir / NAME).items()
            if value != used[name] and (name, value) != ("COSMOS", examples.get("COSMOS"))
        ]


@asynccontextmanager
async def running(settings: StackSettings, say: Say) -> AsyncIterator[None]:
    """Run the stack until the block exits. Raises StackError."""
    for option, port in (("--port", settings.port), ("--cosmos-port", settings.cosmos_port)):
        _require_free(option, port)
    async with AsyncExitStack() as stack:
        if not stack.enter_context(announced(settings.app_dir, settings.environment)):
            _say_now(
                say, f"manage.py does not find this stack by itself: set COSMOS='{settings.environment['COSMOS']}'"
            )
        if settings.ignored:
            _say_now(say, f"{NAME}: ignoring {', '.join(settings.ignored)}, which the environment or this stack sets")
        await _check_settings(settings)
        host = _host(settings, say)
        # The host starts first, so that it loads the app while the emulator starts and the database is provisioned.
        await stack.enter_async_context(host.held())
        await stack.enter_async_context(_emulator(settings, say))
        if (settings.app_dir / "manage.py").is_file():
            await _provision(settings, say)
        await stack.enter_async_context(host)
        yield


async def http_routes(settings: StackSettings) -> set[str]:
    """The routes of the running app's HTTP functions."""

    def read() -> list[dict[str, Any]]:
        with urlopen(f"{settings.url}/admin/functions", timeout=_START_TIMEOUT_S) as response:  # noqa: S310 - our host
            return list(json.load(response))

    functions = await asyncio.to_thread(read)
    return {
        binding["route"] for function in functions for binding in function["config"]["bindings"] if "route" in binding
    }


def _emulator(settings: StackSettings, say: Say) -> Service:
    data = ["--data-dir", str(settings.data_dir)] if settings.data_dir else ["--memory"]
    return Service(
        name="the emulator",
        command=["cosmos_emulator", "--port", str(settings.cosmos_port), *data],
        environment=settings.environment,
        ready_url=f"{settings.cosmos_url}/_emulator/health",
        say=say,
        stdout=subprocess.DEVNULL,  # only its address, which the list has
    )


def _host(settings: StackSettings, say: Say) -> Service:
    # --quiet, because the app itself logs a line with the request charge for each request and delivery, and `running`
    # names the settings that are ignored.
    options = ["--app-dir", str(settings.app_dir), "--quiet"]
    return Service(
        name="the Functions host",
        command=["functions_host", "--port", str(settings.port), *options],
        environment=settings.environment,
        ready_url=f"{settings.url}/admin/host/status",
        say=say,
    )


def _require_free(option: str, port: int) -> None:
    # The stack listens on the first one, but `localhost` can also be the second.
    for family, address in ((socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::1")):
        try:
            # Sets SO_REUSEADDR, except on Windows, where that option would allow a port that is in use.
            socket.create_server((address, port), family=family).close()
        except OSError as error:
            if family == socket.AF_INET6 and error.errno != errno.EADDRINUSE:
                return  # there is no IPv6
            variable = option.strip("-").upper().replace("-", "_")
            raise StackError(
                f"port {port} is in use{_by_whom(port)}; stop that process, or choose another port with {option}"
                f" (make run {variable}={port + 1})"
            ) from error


def _by_whom(port: int) -> str:
    """Return the process that listens on `port`, if the operating system shows it to this user."""
    try:
        for connection in psutil.net_connections("tcp"):
            listens = connection.status == psutil.CONN_LISTEN and connection.laddr[1:] == (port,)
            if listens and connection.pid:
                command = " ".join(psutil.Process(connection.pid).cmdline()[:4])
                return f" by process {connection.pid} ({command})"
    except psutil.Error:
        pass
    return ""


async def _check_settings(settings: StackSettings) -> None:
    """Raise StackError if the app cannot start. The host would show a traceback for the first invalid setting only."""
    if not (settings.app_dir / "shared" / "settings.py").is_file():
        return
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "shared.settings"),
        cwd=settings.app_dir,
        env=settings.environment,
        stderr=asyncio.subprocess.PIPE,
    )
    _, problem = await process.communicate()
    if process.returncode != 0:
        raise StackError(problem.decode().strip())


async def _provision(settings: StackSettings, say: Say) -> None:
    command = ["manage.py", "provision", *(["--seed"] if settings.seed else [])]
    process = await asyncio.create_subprocess_exec(
        sys.executable, *command, cwd=settings.app_dir, env=settings.environment, **_UNREACHED_BY_CTRL_C
    )
    try:
        status = await process.wait()
    except asyncio.CancelledError:
        process.terminate()
        await process.wait()
        if settings.seed:
            say("The sample data is incomplete; the next start adds the rest.")
        raise
    if status != 0:
        raise StackError(f"{' '.join(command)} failed with status {status}")


@dataclass
class Service:
    """Runs a Python module in a process. Inside the block, the process is ready, and restarted if it exits."""

    name: str
    command: Sequence[str]
    environment: Mapping[str, str]
    ready_url: str
    say: Say
    stdout: int | None = None
    _process: asyncio.subprocess.Process | None = field(default=None, init=False)

    @asynccontextmanager
    async def held(self) -> AsyncIterator[None]:
        """Start the process with `--hold`. It waits until `async with` on this service releases it."""
        self._process = await self._start("--hold")
        try:
            yield
        finally:
            await self._end()

    async def __aenter__(self) -> None:
        if self._process is None:
            self._process = await self._start()
        elif self._process.stdin is not None:
            self._process.stdin.write(b"\n")
        try:
            await _until_ready(self.name, self.ready_url, self._process)
        except BaseException:
            await self._end()
            raise
        self._watch = asyncio.create_task(self._keep_running(self._process))

    async def __aexit__(self, *_: object) -> None:
        self._watch.cancel()
        await asyncio.wait([self._watch])
        await self._end()

    async def _start(self, *options: str) -> asyncio.subprocess.Process:
        return await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "local.child", *self.command, *options),
            cwd=_REPOSITORY,
            env=self.environment,
            stdin=asyncio.subprocess.PIPE,
            stdout=self.stdout,
            **_UNREACHED_BY_CTRL_C,
        )

    async def _keep_running(self, process: asyncio.subprocess.Process) -> None:
        loop = asyncio.get_running_loop()
        failures = 0
        while True:
            started = loop.time()
            status = await process.wait()
            failures = 0 if loop.time() - started > _STABLE_S else failures
            delay_s = _RESTART_DELAYS_S[min(failures, len(_RESTART_DELAYS_S) - 1)]
            _say_now(self.say, f"{self.name} ended with status {status}; restarting in {delay_s} s")
            await asyncio.sleep(delay_s)
            failures += 1
            self._process = process = await self._start()

    async def _end(self) -> None:
        if self._process is None or self._process.returncode is not None:
            return
        self._process.terminate()
        try:
            await asyncio.wait_for(self._process.wait(), _STOP_TIMEOUT_S)
        except TimeoutError:
            _say_now(self.say, f"{self.name} did not stop within {_STOP_TIMEOUT_S:.0f} s; killing it")
            self._process.kill()
            await self._process.wait()


def _say_now(say: Say, text: str) -> None:
    say(f"{datetime.now(UTC).astimezone():%H:%M:%S} {text}")


async def _until_ready(name: str, url: str, process: asyncio.subprocess.Process) -> None:
    """Wait until `url` responds. Raises StackError if the process exits or is not ready in time."""
    deadline = asyncio.get_running_loop().time() + _START_TIMEOUT_S
    while asyncio.get_running_loop().time() < deadline:
        if process.returncode is not None:
            raise StackError(f"{name} ended during startup with status {process.returncode}; see its output above")
        if await asyncio.to_thread(_responds, url):
            return
        await asyncio.sleep(_POLL_S)
    raise StackError(f"{name} was not ready after {_START_TIMEOUT_S:.0f} s")


def _responds(url: str) -> bool:
    # http.client, because importing aiohttp would delay each start by a tenth of a second.
    address = urlsplit(url)
    connection = http.client.HTTPConnection(address.hostname or "", address.port, timeout=5)
    try:
        connection.request("GET", address.path)
        return connection.getresponse().status < 500
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()


async def stop_signals() -> None:
    """Wait for Ctrl-C or SIGTERM."""
    stopping = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        try:
            loop.add_signal_handler(number, stopping.set)
        except NotImplementedError:  # Windows: a plain handler wakes the loop instead
            signal.signal(number, lambda *_: loop.call_soon_threadsafe(stopping.set))
    await stopping.wait()
