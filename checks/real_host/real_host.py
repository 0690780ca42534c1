"""The blog on Microsoft's Functions host, with its Python worker, in a process group of its own."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from checks.chaos.ports import free_port
from shared.settings import Settings
from tests.running_app import REPOSITORY, environment_of

# Core Tools check no keys unless they are told to.
KEY = {"x-functions-key": "local"}
_REQUIREMENTS = Path(__file__).with_name("requirements.txt")
_START_S = 240
_STOP_S = 30
_POLL_S = 0.1


class RealHostUnavailable(Exception):
    """There is no Functions host on this machine."""


def func() -> str:
    """Return the path of the host: `FUNC`, or `func` on the PATH. Raises RealHostUnavailable."""
    if named := os.environ.get("FUNC"):
        return named
    if sys.platform != "win32" and (found := shutil.which("func")):
        return found
    raise RealHostUnavailable("install Azure Functions Core Tools, or set FUNC to the path of func")


def check_available() -> None:
    """Raise RealHostUnavailable if there is no host, or its worker lacks packages."""
    func()
    _packages_of_worker()


@dataclass(frozen=True)
class RealHost:
    """A host that listens. `log` contains its output and the app's."""

    process: subprocess.Popen[bytes]
    url: str
    log: Path

    def log_lines(self, *, containing: str) -> list[str]:
        return [
            line for line in self.log.read_text(encoding="utf-8", errors="replace").splitlines() if containing in line
        ]

    def kill(self) -> None:
        """Send SIGKILL to the host and its worker."""
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()

    def stop(self) -> None:
        """Send SIGTERM to the host, which stops its worker, and wait."""
        self.process.terminate()
        self.process.wait(_STOP_S)

    def get(self, path: str, headers: Mapping[str, str] = KEY) -> Any:
        """Return the JSON of a GET. Raises urllib.error.HTTPError."""
        request = urllib.request.Request(self.url + path, headers=dict(headers))  # noqa: S310 - our own address
        with urllib.request.urlopen(request, timeout=10) as answer:  # noqa: S310 - a server on this machine
            return json.load(answer)

    def status_of(self, path: str) -> int:
        """Return the status of a GET without a key."""
        try:
            self.get(path, headers={})
        except urllib.error.HTTPError as error:
            return error.code
        return 200


def _worker() -> Path:
    """Return the folder of the host's Python worker. The command of Core Tools is a link to `lib/main.js`."""
    near = Path(func()).resolve().parent
    folders = ("workers/python", "bin/workers/python", "../bin/workers/python")
    if found := [folder for name in folders if (folder := near / name).exists()]:
        return found[0]
    raise RealHostUnavailable(f"there is no Python worker near {near}")


def _packages_of_worker() -> dict[str, str]:
    """Return the environment in which the worker finds what it imports. Core Tools have it in the worker's folder.

    Installs it once. Raises RealHostUnavailable if that fails.
    """
    if any(_worker().glob("*/*/*/google")):
        return {}
    if sys.version_info >= (3, 13):
        raise RealHostUnavailable("the worker of this host needs Python 3.11 or 3.12")
    cache = REPOSITORY / ".venv-real-host"
    packages = cache / "azure-functions-host"
    if not packages.exists():
        partial = cache / "partial"
        options = (
            "--quiet",
            "--disable-pip-version-check",
            "--requirement",
            str(_REQUIREMENTS),
            "--target",
            str(partial),
        )
        installed = subprocess.run(  # noqa: S603 - our own requirements
            [sys.executable, "-m", "pip", "install", *options], capture_output=True, text=True, check=False
        )
        if installed.returncode:
            raise RealHostUnavailable(f"the packages of its worker cannot be installed: {installed.stderr.strip()}")
        partial.rename(packages)
    # The worker's generated code is older than protobuf's other implementations.
    return {"XDG_CACHE_HOME": str(cache), "PROTOCOL_BUFFERS_PYTHON_IMPLEMENTATION": "python"}


def _patient_worker(folder: Path) -> Path:
    """Return a folder with the host's Python worker that has two minutes to start.

    By default it has ten seconds, in which a busy machine cannot import the app. Then the host runs without functions
    (azure-functions-host, Workers/WorkerProcessCountOptions.cs and Rpc/Configuration/RpcWorkerConfigFactory.cs).
    """
    worker = _worker()
    patient = folder / "python-worker"
    if not patient.exists():
        patient.mkdir()
        for entry in worker.iterdir():
            (patient / entry.name).symlink_to(entry)
        config = patient / "worker.config.json"
        config.unlink()
        given = json.loads((worker / config.name).read_text(encoding="utf-8-sig"))
        config.write_text(json.dumps({**given, "processOptions": {"initializationTimeout": "00:02:00"}}))
    return patient


@contextmanager
def real_host(settings: Settings, log: Path) -> Iterator[RealHost]:
    """Run the blog until the block ends. Raises RealHostUnavailable."""
    port = free_port()
    with log.open("wb") as output:
        process = subprocess.Popen(  # noqa: S603 - the host that the developer chose
            [func(), "start", "--port", str(port)],
            cwd=REPOSITORY,
            env={
                # Compiling the app and all it imports takes seconds.
                **{name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"},
                **environment_of(settings),
                "BLOG_AUTH": "function-key",
                "AzureWebJobsStorage": "",
                "AzureWebJobsDisableHomepage": "true",
                "FUNCTIONS_WORKER_RUNTIME": "python",
                "languageWorkers__python__defaultExecutablePath": sys.executable,
                "languageWorkers__python__workerDirectory": str(_patient_worker(log.parent)),
                **_packages_of_worker(),
            },
            stdout=output,
            stderr=output,
            start_new_session=True,
        )
    host = RealHost(process, f"http://127.0.0.1:{port}", log)
    try:
        _wait_until_running(host)
        yield host
        if process.poll() is None:
            host.stop()
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def _wait_until_running(host: RealHost) -> None:
    deadline = time.monotonic() + _START_S
    while time.monotonic() < deadline and host.process.poll() is None:
        with suppress(OSError, ValueError):
            # If the worker fails to start, the host runs without functions.
            if host.get("/admin/host/status")["state"] == "Running" and host.get("/admin/functions"):
                return
        time.sleep(_POLL_S)
    raise AssertionError("the host did not start:\n" + host.log.read_text(encoding="utf-8", errors="replace"))
