"""Functions hosts that share leases, in processes that can be killed and restarted."""

from __future__ import annotations

import asyncio
import os
import random
import sys
from asyncio.subprocess import Process
from contextlib import suppress
from pathlib import Path

from checks.chaos.ports import free_port
from shared.settings import Settings
from tests.running_app import environment_of

_START_S = 20.0
_POLL_S = 0.05
# Probability of not waiting for a restarted host, which can then be killed during startup.
_KILLED_YOUNG = 0.2

_REPOSITORY = Path(__file__).parents[2]


class Host:
    """A host process with a port and a clock skew in seconds."""

    def __init__(self, settings: Settings, log: Path, clock_s: float = 0.0) -> None:
        self._port = free_port()
        self._clock_s = clock_s
        self._environment = {**os.environ, **environment_of(settings)}
        self._process: Process | None = None
        self.log = log

    @property
    def api(self) -> str:
        return f"http://127.0.0.1:{self._port}/api"

    async def start(self) -> None:
        """Start without waiting until it listens: clients retry."""
        module: tuple[str, ...] = ("functions_host",)
        if self._clock_s:
            module = ("checks.chaos.host_with_clock_skew", str(self._clock_s))
        with self.log.open("ab") as log:
            self._process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-m", *module, "--port", str(self._port), "--no-local-settings", "--no-reload"),
                cwd=_REPOSITORY,
                env=self._environment,
                stderr=log,
            )

    async def listens(self) -> None:
        """Wait until it listens, for at most 20 s, because the database can be down."""
        with suppress(TimeoutError):
            async with asyncio.timeout(_START_S):
                while not await self._takes_connections():  # noqa: ASYNC110 - another process, which sets no event
                    await asyncio.sleep(_POLL_S)

    async def _takes_connections(self) -> bool:
        try:
            _, writer = await asyncio.open_connection("127.0.0.1", self._port)
        except OSError:
            return False
        writer.close()
        return True

    async def kill(self) -> None:
        """Send SIGKILL. Raises RuntimeError if the process has already ended."""
        assert self._process is not None
        if self._process.returncode is not None:
            raise RuntimeError(f"a host exited with {self._process.returncode}; see {self.log}")
        self._process.kill()
        await self._process.wait()

    async def end(self) -> None:
        if self._process is not None and self._process.returncode is None:
            self._process.kill()
            await self._process.wait()


class Hosts:
    """All hosts of a run. Clients do not know which are running."""

    def __init__(self, settings: Settings, directory: Path, clocks_s: tuple[float, ...]) -> None:
        self._hosts = [
            Host(settings, directory / f"host{number}.log", clock_s) for number, clock_s in enumerate(clocks_s)
        ]
        self.kills = 0

    async def start(self) -> None:
        for host in self._hosts:
            await host.start()
        for host in self._hosts:
            await host.listens()

    def api(self, generator: random.Random) -> str:
        return generator.choice(self._hosts).api

    async def kill_one(self, generator: random.Random) -> None:
        """Kill a random host, restart it and usually wait until it listens."""
        host = generator.choice(self._hosts)
        await self._restart(host)
        if generator.random() > _KILLED_YOUNG:
            await host.listens()

    async def kill_all(self) -> None:
        """Kill all hosts, then restart them."""
        for host in self._hosts:
            await host.kill()
            self.kills += 1
        await self.start()

    async def _restart(self, host: Host) -> None:
        await host.kill()
        self.kills += 1
        await host.start()

    async def end(self) -> None:
        for host in self._hosts:
            await host.end()
