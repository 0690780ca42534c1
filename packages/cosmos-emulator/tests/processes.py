"""The emulator in a separate process."""

from __future__ import annotations

import asyncio
import re
import subprocess
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

START_S = 60.0


def cpu_ticks(pid: int) -> int:
    """Return the CPU time that a process on Linux has used, in hundredths of a second."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return int(fields[11]) + int(fields[12])


@asynccontextmanager
async def emulator_process(*arguments: str, launcher: Sequence[str] = ()) -> AsyncIterator[tuple[Process, str]]:
    """Start `python -m cosmos_emulator` on a free port, and yield the process and its endpoint.

    The process is killed at the end if it is still running. `launcher` is a command that gets the emulator's command as
    its arguments.
    """
    process = await asyncio.create_subprocess_exec(
        *launcher, sys.executable, "-m", "cosmos_emulator", "--port", "0", *arguments, stdout=PIPE, stderr=PIPE
    )
    try:
        assert process.stdout is not None
        line = (await asyncio.wait_for(process.stdout.readline(), START_S)).decode()
        found = re.search(r"http://\S+", line)
        assert found is not None, (line, await process.stderr.read() if process.stderr else b"")
        yield process, found.group()
    finally:
        if process.returncode is None:
            process.kill()
        await process.communicate()


@contextmanager
def running_emulator(log: Path, *options: str) -> Iterator[str]:
    """Start an empty emulator on a free port, and yield its endpoint. Its errors go to the log."""
    command = [sys.executable, "-m", "cosmos_emulator", "--memory", "--port", "0", *options]
    with log.open("wb") as errors:
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors)  # noqa: S603 - a fixed command
        try:
            assert process.stdout is not None
            found = re.search(r"https?://\S+", process.stdout.readline().decode())
            if found is None:
                raise RuntimeError(f"The emulator did not start: {log.read_text(encoding='utf-8')}")
            yield found.group()
        finally:
            process.terminate()
            process.communicate()
