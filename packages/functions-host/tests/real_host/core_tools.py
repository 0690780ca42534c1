"""Microsoft's Functions host, which Azure Functions Core Tools run, in a process group of its own."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from aiohttp import ClientError, ClientSession
from tests.fidelity.odd_host import MASTER_KEY, write_keys
from tests.ports import free_port

_START_S = 240
_STOP_S = 30
_POLL_S = 0.1


def func() -> str | None:
    """Return the path of Core Tools: `FUNC`, or `func` on the PATH."""
    return os.environ.get("FUNC") or (shutil.which("func") if sys.platform != "win32" else None)


@dataclass(frozen=True)
class RealHost:
    """A host that listens. `log` contains its output and the app's."""

    port: int
    version: str
    log: Path

    def log_lines(self, *, containing: str) -> list[str]:
        return [line for line in _text(self.log).splitlines() if containing in line]


@asynccontextmanager
async def real_host(app: Path, environment: Mapping[str, str], folder: Path) -> AsyncIterator[RealHost]:
    """Run an app with the keys of `write_keys`, until the block ends."""
    # Core Tools keep the keys in the folder for temporary files (SelfHostWebHostSettingsFactory.cs), and check them
    # only if they are told to.
    write_keys(folder / "secrets" / "functions" / "secrets")
    port, log = free_port(), folder / "real-host.log"
    with log.open("wb") as output:
        process = subprocess.Popen(  # noqa: S603, ASYNC220 - the host that the developer chose
            [func() or "func", "start", "--port", str(port), "--enableAuth"],
            cwd=app,
            env={
                **os.environ,
                **environment,
                "TMPDIR": str(folder),
                "AzureWebJobsSecretStorageType": "files",
                "AzureWebJobsStorage": "",
                "AzureWebJobsDisableHomepage": "true",
                "FUNCTIONS_WORKER_RUNTIME": "python",
                "languageWorkers__python__defaultExecutablePath": sys.executable,
            },
            stdout=output,
            stderr=output,
            start_new_session=True,
        )
    try:
        yield RealHost(port, await _version_when_running(process, port, log), log)
        process.terminate()
        await asyncio.to_thread(process.wait, _STOP_S)
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


async def _version_when_running(process: subprocess.Popen[bytes], port: int, log: Path) -> str:
    deadline = time.monotonic() + _START_S
    async with ClientSession(f"http://127.0.0.1:{port}", headers={"x-functions-key": MASTER_KEY}) as session:
        while time.monotonic() < deadline and process.poll() is None:
            with suppress(ClientError, ValueError):
                status = await _json(session, "/admin/host/status")
                # If the worker fails to start, the host runs without functions.
                if status["state"] == "Running" and await _json(session, "/admin/functions"):
                    return f"Azure Functions host {status['versionDetails'].partition('+')[0]}"
            await asyncio.sleep(_POLL_S)
    raise AssertionError("the host did not start:\n" + _text(log))


async def _json(session: ClientSession, path: str) -> Any:
    async with session.get(path, raise_for_status=True) as response:
        return json.loads(await response.read())


def _text(log: Path) -> str:
    return log.read_text(encoding="utf-8", errors="replace")
