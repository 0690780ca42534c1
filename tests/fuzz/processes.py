"""A server as a process of its own, so that whatever an attack does to it does not touch the attacker."""

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
# aiohttp logs the traceback of every request whose bytes are no HTTP, or whose body is not in its encoding.
_REFUSED_BYTES: Final = re.compile(
    r"^aiohttp\.(http_exceptions\.|web_protocol\.RequestPayloadError)|^zlib\.error", re.M
)


@dataclass
class ServerProcess:
    """`port` is on this machine; `log` holds everything that the process has written."""

    process: subprocess.Popen[bytes]
    port: int
    log: Path
    _told: int = 0

    @property
    def is_alive(self) -> bool:
        return self.process.poll() is None

    @property
    def peak_mb(self) -> float:
        """The most memory that it has had resident; 0 where the system does not tell."""
        status = Path(f"/proc/{self.process.pid}/status")
        found = re.search(r"VmHWM:\s+(\d+) kB", status.read_text()) if status.exists() else None
        return int(found[1]) / 1024 if found else 0.0

    def complaints(self) -> str:
        """What the log tells since the last look of errors that nothing expected, empty when there are none."""
        text = self.log.read_text(errors="replace")[self._told :]
        self._told += len(text)
        unexpected = [trace for trace in text.split("Traceback")[1:] if not _REFUSED_BYTES.search(trace)]
        unexpected += re.findall(".* was never .*", text)
        return "\n".join(unexpected)[:6000]


@contextmanager
def server_process(
    arguments: list[str], environment: Mapping[str, str], started: re.Pattern[str]
) -> Iterator[ServerProcess]:
    """Runs `python` with these arguments until its output matches `started`, whose group 1 is the port."""
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
        time.sleep(0.02)  # between two looks at the log
    raise AssertionError(log.read_text(errors="replace"))
