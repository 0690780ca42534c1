"""Run one file of the suite in a process of its own, against an empty emulator of its own."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from cosmos_emulator import WELL_KNOWN_KEY

INSIDE = Path(__file__).with_name("inside")
TIMEOUT_S = 600.0


@dataclass(frozen=True)
class Outcome:
    """What a test did: `passed`, `failed` or `skipped`, and the message of a failure."""

    test: str
    outcome: str
    message: str


def run(suite: Path, tests: Sequence[str], log: Path) -> list[Outcome]:
    """Run tests of one file, given as node IDs, and write pytest's output to a log.

    A test that had not finished after `TIMEOUT_S` has failed.
    """
    record = log.with_suffix(".jsonl")
    record.unlink(missing_ok=True)
    with _emulator(log.with_suffix(".emulator.log")) as endpoint, log.open("wb") as output:
        command = [sys.executable, "-m", "pytest", "-c", str(INSIDE / "pytest.ini"), "--rootdir", str(suite)]
        environment = {
            **os.environ,
            "ACCOUNT_HOST": endpoint,
            "ACCOUNT_KEY": WELL_KNOWN_KEY,
            "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
            "PYTHONDONTWRITEBYTECODE": "1",
            "PYTHONPATH": os.pathsep.join([str(INSIDE), str(suite)]),
            "SUITE_RECORD": str(record),
        }
        process = subprocess.Popen(  # noqa: S603 - a fixed command
            [*command, *tests], cwd=suite, env=environment, stdout=output, stderr=subprocess.STDOUT
        )
        try:
            process.wait(TIMEOUT_S)
            unfinished = f"did not finish: the process ended with status {process.returncode}"
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            unfinished = f"did not finish in {TIMEOUT_S:.0f} s"
    return _read(record, unfinished)


def _read(record: Path, unfinished: str) -> list[Outcome]:
    found: dict[str, Outcome] = {}
    for line in record.read_text(encoding="utf-8").splitlines() if record.exists() else ():
        outcome = Outcome(**json.loads(line))
        known = found.get(outcome.test)
        if outcome.outcome == "collected":
            found[outcome.test] = Outcome(outcome.test, "failed", unfinished)
        elif known is None or known.outcome != "failed" or known.message == unfinished:
            found[outcome.test] = outcome  # otherwise, its setup or call failed before
    return list(found.values())


@contextmanager
def _emulator(log: Path) -> Iterator[str]:
    """Start an empty emulator.

    Like Microsoft's, it reports 127.0.0.1 as its host, which the suite tells apart from localhost. The latency is as in
    a network: tests of client timeouts fail if a response takes less than 1 ms.
    """
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    options = ["--tls", "--memory", "--port", str(port), "--account-endpoint", f"https://127.0.0.1:{port}/"]
    options += ["--latency", "5ms"]
    with log.open("wb") as errors:
        process = subprocess.Popen(  # noqa: S603 - a fixed command
            [sys.executable, "-m", "cosmos_emulator", *options], stdout=subprocess.PIPE, stderr=errors
        )
        try:
            assert process.stdout is not None
            if b" ready " not in process.stdout.readline():
                raise RuntimeError(f"The emulator did not start: {log.read_text(encoding='utf-8')}")
            yield f"https://localhost:{port}/"
        finally:
            process.terminate()
            process.communicate()
