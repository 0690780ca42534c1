"""An emulator in a process of its own, which attacks can end."""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Final

ROOT: Final = Path(__file__).parents[2]
_START_S: Final = 30.0
# aiohttp logs a traceback for each request that is not HTTP or has the wrong content encoding.
_REFUSED_BYTES: Final = re.compile(
    r"^aiohttp\.(http_exceptions\.|web_protocol\.RequestPayloadError)|^zlib\.error", re.M
)


@dataclass
class ServerProcess:
    """A server; `log` contains all its output."""

    process: subprocess.Popen[bytes]
    port: int
    log: Path
    _told: int = 0

    @property
    def is_alive(self) -> bool:
        return self.process.poll() is None

    @property
    def peak_mb(self) -> float:
        """Peak resident memory, or 0 if unknown."""
        status = Path(f"/proc/{self.process.pid}/status")
        found = re.search(r"VmHWM:\s+(\d+) kB", status.read_text()) if status.exists() else None
        return int(found[1]) / 1024 if found else 0.0

    def complaints(self) -> str:
        """Return unexpected errors logged since the last call."""
        text = self.log.read_text(errors="replace")[self._told :]
        self._told += len(text)
        unexpected = [trace for trace in text.split("Traceback")[1:] if not _REFUSED_BYTES.search(trace)]
        unexpected += re.findall(".* was never .*", text)
        return "\n".join(unexpected)[:6000]


@contextmanager
def server_process(
    arguments: list[str], environment: Mapping[str, str], started: re.Pattern[str]
) -> Iterator[ServerProcess]:
    """Start `python` and wait for output that matches `started`, whose group 1 is the port."""
    with tempfile.TemporaryDirectory() as directory:
        log = Path(directory) / "log"
        with log.open("wb") as output, _process(arguments, environment, output) as process:
            try:
                yield ServerProcess(process, _port(process, log, started), log)
            finally:
                process.kill()


def _process(arguments: list[str], environment: Mapping[str, str], output: IO[bytes]) -> subprocess.Popen[bytes]:
    return subprocess.Popen(  # noqa: S603 - this interpreter, with arguments of the tests
        [sys.executable, *arguments], cwd=ROOT, env=environment, stdout=output, stderr=subprocess.STDOUT
    )


def _port(process: subprocess.Popen[bytes], log: Path, started: re.Pattern[str]) -> int:
    end = time.monotonic() + _START_S
    while time.monotonic() < end and process.poll() is None:
        if found := started.search(log.read_text(errors="replace")):
            return int(found[1])
        time.sleep(0.02)  # before reading the log again
    raise AssertionError(log.read_text(errors="replace"))
