"""An emulator process that can be killed and restarted on the same data."""

from __future__ import annotations

import asyncio
import sys
from asyncio.subprocess import PIPE, Process
from pathlib import Path

from cosmos_emulator import WELL_KNOWN_KEY

from checks.chaos.ports import free_port
from shared.platform.settings import Account
from shared.settings import Settings

_REPOSITORY = Path(__file__).parents[2]
_START_S = 30


class Database:
    def __init__(self, directory: Path, *options: str) -> None:
        """`options` are arguments of the emulator."""
        self._port = free_port()
        self.data = directory / "data"
        self._log = directory / "database.log"
        self._options = options
        self._process: Process | None = None
        self.kills = 0

    @property
    def settings(self) -> Settings:
        return Settings(account=Account(f"{self.address}/", WELL_KNOWN_KEY), database="blog")

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self._port}"

    async def start(self) -> None:
        """Start it and wait until it responds. Raises RuntimeError if it does not."""
        with self._log.open("ab") as log:
            self._process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-m", "cosmos_emulator", "--port", str(self._port), "--data-dir", str(self.data)),
                *("--partitions", "4"),
                *self._options,
                cwd=_REPOSITORY,
                stdout=PIPE,
                stderr=log,
            )
        assert self._process.stdout is not None
        line = await asyncio.wait_for(self._process.stdout.readline(), _START_S)
        if b"ready" not in line:
            raise RuntimeError(f"the database did not start; see {self._log}")

    async def kill(self) -> None:
        """Send SIGKILL. Raises RuntimeError if the process has already ended."""
        assert self._process is not None
        if self._process.returncode is not None:
            raise RuntimeError(f"the database exited with {self._process.returncode}; see {self._log}")
        self._process.kill()
        await self._process.wait()
        self.kills += 1

    async def stop(self) -> None:
        """Send SIGTERM and wait, so that another process can use the directory."""
        assert self._process is not None
        self._process.terminate()
        await self._process.wait()

    async def end(self) -> None:
        if self._process is not None and self._process.returncode is None:
            self._process.kill()
            await self._process.wait()
