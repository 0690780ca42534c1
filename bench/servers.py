"""The measured server processes."""

from __future__ import annotations

import asyncio
import os
import re
import sys
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from azure.cosmos.aio import CosmosClient
from cosmos_emulator.settings import WELL_KNOWN_KEY

from bench.timing import BenchmarkError
from shared.settings import Account, Settings

REPOSITORY: Final = Path(__file__).parent.parent
PEER: Final = REPOSITORY / "bench" / "peer"
PARTITIONS: Final = 4  # of every container, unless a measurement sets another number
PeerMode = Literal["fastest", "shipped"]
_ADDRESS: Final = re.compile(r"https?://[0-9.]+:[0-9]+/?")
_START_S: Final = 60.0
_STOP_S: Final = 15.0
_READ_TIMEOUT_S: Final = 300  # the peer takes about a minute to scan 100,000 items; the SDK's default is 65 s


@dataclass(frozen=True)
class Server:
    process: asyncio.subprocess.Process
    endpoint: str

    def memory_bytes(self) -> tuple[int, int]:
        """Return current and peak resident memory (proc_pid_status(5))."""
        status = Path(f"/proc/{self.process.pid}/status").read_text(encoding="ascii")
        found = dict(re.findall(r"^(VmRSS|VmHWM):\s+(\d+) kB$", status, re.MULTILINE))
        return int(found["VmRSS"]) * 1024, int(found["VmHWM"]) * 1024

    def processor_s(self) -> float:
        """Return the processor time that the present threads have used (Linux, sched-stats)."""
        threads = Path(f"/proc/{self.process.pid}/task").glob("*/schedstat")
        return sum(int(thread.read_text(encoding="ascii").split()[0]) for thread in threads) / 1e9

    def settings(self, database: str) -> Settings:
        return Settings(account=Account(self.endpoint, WELL_KNOWN_KEY), database=database)


@asynccontextmanager
async def emulator(data_dir: Path | None, *options: str) -> AsyncIterator[Server]:
    """Start the emulator with data in `data_dir`, or in memory."""
    where = ["--memory"] if data_dir is None else ["--data-dir", str(data_dir)]
    given = ["--port", "0", "--partitions", str(PARTITIONS), *where, *options]
    async with _server([sys.executable, "-m", "cosmos_emulator", *given], {}) as server:
        yield server


@asynccontextmanager
async def peer(mode: PeerMode) -> AsyncIterator[Server]:
    """Start the peer from npm (bench/peer)."""
    if not (PEER / "node_modules").is_dir():
        raise BenchmarkError("the peer is not installed; run `npm ci --prefix bench/peer` or `make bench-local`")
    async with _server(["node", str(PEER / "serve.js"), mode], {}) as server:
        yield server


@asynccontextmanager
async def telemetry_sink() -> AsyncIterator[Server]:
    """Start a server that accepts telemetry and discards it."""
    async with _server([sys.executable, "-m", "tests.observability.sink"], {}) as server:
        yield server


@asynccontextmanager
async def functions_host(
    settings: Settings, state_dir: Path, *, profile: Path | None = None, environment: Mapping[str, str] | None = None
) -> AsyncIterator[Server]:
    """Start the blog on the Functions host; `state_dir` gets its log, `profile` a cProfile."""
    given = {
        "COSMOS": f"AccountEndpoint={settings.account.endpoint};AccountKey={settings.account.key};",
        "BLOG_DATABASE": settings.database,
        **(environment or {}),
    }
    profiling = [] if profile is None else ["-m", "cProfile", "-o", str(profile)]
    options = ["--port", "0", "--no-local-settings", "--no-reload", "--state-dir", str(state_dir)]
    command = [sys.executable, *profiling, "-m", "functions_host", *options]
    async with _server(command, given, log=state_dir / "host.log") as server:
        yield server


def connect(server: Server) -> CosmosClient:
    """Open a client that uses only this address and accepts any certificate."""
    return CosmosClient(
        server.endpoint,
        WELL_KNOWN_KEY,
        connection_verify=False,
        enable_endpoint_discovery=False,
        read_timeout=_READ_TIMEOUT_S,
    )


@asynccontextmanager
async def _server(
    command: Sequence[str], environment: dict[str, str], *, log: Path | None = None
) -> AsyncIterator[Server]:
    """Start a process that prints its address to stdout, or to stderr if a `log` is given."""
    with (log or Path(os.devnull)).open("wb") as stderr:
        process = await asyncio.create_subprocess_exec(
            *command,
            cwd=REPOSITORY,
            env={**os.environ, **environment},
            stdout=asyncio.subprocess.PIPE,
            stderr=stderr if log is not None else None,
        )
    try:
        async with asyncio.timeout(_START_S):
            endpoint = await (_address_on_stdout(process) if log is None else _address_in(log, process))
        yield Server(process, endpoint)
    finally:
        await _end(process)


async def _address_on_stdout(process: asyncio.subprocess.Process) -> str:
    if process.stdout is None:
        raise BenchmarkError("a server has no stdout")
    while line := await process.stdout.readline():
        if found := _ADDRESS.search(line.decode()):
            return found.group()
    raise BenchmarkError(f"a server exited with {await process.wait()}")


async def _address_in(log: Path, process: asyncio.subprocess.Process) -> str:
    while process.returncode is None:
        if found := _ADDRESS.search(_listening_line(log)):
            return found.group()
        await asyncio.sleep(0.02)
    raise BenchmarkError(f"a server exited with {process.returncode}; see {log}")


def _listening_line(log: Path) -> str:
    return next((line for line in log.read_text(encoding="utf-8").splitlines() if "listening on" in line), "")


async def _end(process: asyncio.subprocess.Process) -> None:
    if process.returncode is not None:
        return
    process.terminate()
    try:
        await asyncio.wait_for(process.wait(), _STOP_S)
    except TimeoutError:
        process.kill()
        await process.wait()
