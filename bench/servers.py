"""The measured server processes."""

from __future__ import annotations

import asyncio
import os
import re
import socket
import sys
import tempfile
from asyncio.subprocess import STDOUT
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from aiohttp import ClientConnectionError, ClientSession
from azure.cosmos.aio import CosmosClient
from cosmos_emulator.settings import WELL_KNOWN_KEY

from bench.timing import BenchmarkError
from shared.platform.settings import Account
from shared.settings import Settings

REPOSITORY: Final = Path(__file__).parent.parent
PEER: Final = REPOSITORY / "bench" / "peer"
PARTITIONS: Final = 4  # of every container, unless a measurement sets another number
PeerMode = Literal["fastest", "shipped"]
_ADDRESS: Final = re.compile(r"(?:ready at|listening on) (https?://[0-9.]+:[0-9]+/?)")
_START_S: Final = 60.0
_STOP_S: Final = 15.0
_LOOK_S: Final = 0.005
_READ_TIMEOUT_S: Final = 300  # the peer takes about a minute to scan 100,000 items; the SDK's default is 65 s


@dataclass(frozen=True)
class Server:
    process: asyncio.subprocess.Process
    endpoint: str
    log: Path

    def memory_bytes(self) -> tuple[int, int]:
        """Return current and peak resident memory (proc_pid_status(5))."""
        status = Path(f"/proc/{self.process.pid}/status").read_text(encoding="ascii")
        found = dict(re.findall(r"^(VmRSS|VmHWM):\s+(\d+) kB$", status, re.MULTILINE))
        return int(found["VmRSS"]) * 1024, int(found["VmHWM"]) * 1024

    def settings(self, database: str) -> Settings:
        return Settings(account=Account(self.endpoint, WELL_KNOWN_KEY), database=database)

    async def next_second(self) -> None:
        """Advance the emulator's clock, because another write of an item in the same second costs 0.38 RU less."""
        async with ClientSession(raise_for_status=True) as session:
            await session.patch(f"{self.endpoint}_emulator/clock", json={"advanceS": 1})


@asynccontextmanager
async def emulator(data_dir: Path | None, *options: str) -> AsyncIterator[Server]:
    """Start the emulator with data in `data_dir`, or in memory."""
    where = ["--memory"] if data_dir is None else ["--data-dir", str(data_dir)]
    given = ["--port", "0", "--partitions", str(PARTITIONS), *where, *options]
    async with _server([sys.executable, "-m", "cosmos_emulator", *given]) as server:
        yield server


@asynccontextmanager
async def peer(mode: PeerMode) -> AsyncIterator[Server]:
    """Start the peer from npm (bench/peer)."""
    if not (PEER / "node_modules").is_dir():
        raise BenchmarkError("the peer is not installed; run `npm ci --prefix bench/peer` or `make bench-local`")
    async with _server(["node", str(PEER / "serve.js"), mode]) as server:
        yield server


@asynccontextmanager
async def functions_host(settings: Settings, environment: Mapping[str, str] | None = None) -> AsyncIterator[Server]:
    """Start the blog on the Functions host."""
    given = {
        "COSMOS": f"AccountEndpoint={settings.account.endpoint};AccountKey={settings.account.key};",
        "BLOG_DATABASE": settings.database,
        **(environment or {}),
    }
    with tempfile.TemporaryDirectory(prefix="bench-host-") as directory:
        options = ["--port", "0", "--no-local-settings", "--no-reload", "--state-dir", directory]
        async with _server([sys.executable, "-m", "functions_host", *options], given) as server:
            yield server


@asynccontextmanager
async def started(command: Sequence[str], path: str) -> AsyncIterator[Server]:
    """Start another emulator, whose endpoint has `path`. `command` can have the placeholders {port} and {directory}."""
    port = _free_port()
    with tempfile.TemporaryDirectory(prefix="bench-other-") as directory:
        filled = [part.replace("{port}", str(port)).replace("{directory}", directory) for part in command]
        async with _process(filled) as (process, log):
            endpoint = f"http://127.0.0.1:{port}/{path.strip('/')}".rstrip("/") + "/"
            server = Server(process, endpoint, log)
            async with asyncio.timeout(_START_S):
                await _answering(server)
            yield server


def _free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


async def _answering(server: Server) -> None:
    async with ClientSession() as session:
        while server.process.returncode is None:
            try:
                async with session.get(server.endpoint):
                    return
            except ClientConnectionError:
                await asyncio.sleep(_LOOK_S)
    raise BenchmarkError(f"a server exited with {server.process.returncode}: {_text(server.log)}")


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
async def _server(command: Sequence[str], environment: Mapping[str, str] | None = None) -> AsyncIterator[Server]:
    """Start a process that prints its address."""
    async with _process(command, environment) as (process, log):
        async with asyncio.timeout(_START_S):
            endpoint = await _address(log, process)
        yield Server(process, endpoint, log)


@asynccontextmanager
async def _process(
    command: Sequence[str], environment: Mapping[str, str] | None = None
) -> AsyncIterator[tuple[asyncio.subprocess.Process, Path]]:
    """Start a process, and end it afterwards. Yields its output's file, too."""
    with tempfile.TemporaryDirectory(prefix="bench-log-") as directory:
        log = Path(directory) / "log"
        with log.open("wb") as output:
            process = await asyncio.create_subprocess_exec(
                *command, cwd=REPOSITORY, env={**os.environ, **(environment or {})}, stdout=output, stderr=STDOUT
            )
        try:
            yield process, log
        finally:
            await _end(process)


async def _address(log: Path, process: asyncio.subprocess.Process) -> str:
    while process.returncode is None:
        if found := _ADDRESS.search(_text(log)):
            return found[1]
        await asyncio.sleep(_LOOK_S)
    raise BenchmarkError(f"a server exited with {process.returncode}: {_text(log)}")


def _text(log: Path) -> str:
    return log.read_text(encoding="utf-8")


async def _end(process: asyncio.subprocess.Process) -> None:
    if process.returncode is not None:
        return
    process.terminate()
    try:
        await asyncio.wait_for(process.wait(), _STOP_S)
    except TimeoutError:
        process.kill()
        await process.wait()
