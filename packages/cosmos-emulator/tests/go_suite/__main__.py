"""Run the emulator tests of azcosmos, the Go SDK, and compare the outcomes with the expected failures.

    python -m tests.go_suite [--update]

The Go module contains its tests, so Go downloads them by name. They run in a copy, with the address of an empty
emulator.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path

from tests.processes import running_emulator
from tests.sdk_suite import packaged
from tests.sdk_suite.execution import Outcome

MODULE = "github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos@v1.5.0"
LOGS = Path(__file__).resolve().parents[4] / ".data" / "go-suite"
LIST = Path(__file__).with_name("expected_failures.json")
TIMEOUT_S = 900.0
_ADDRESS = re.compile(r"https://localhost:(8081|8903)/")
_RESULTS = {"pass": "passed", "fail": "failed", "skip": "skipped"}


def main() -> int:
    if (go := packaged.tool("go")) is None:
        return 0
    LOGS.mkdir(parents=True, exist_ok=True)
    downloaded = subprocess.run(  # noqa: S603 - a fixed command
        [go, "mod", "download", "-json", MODULE], cwd=LOGS, capture_output=True, text=True, check=False
    )
    if downloaded.returncode:
        sys.stdout.write(f"Skipped: {MODULE} cannot be downloaded: {downloaded.stdout}{downloaded.stderr}\n")
        return 0
    with tempfile.TemporaryDirectory() as folder:
        # Without the modes of the files, which are read-only.
        suite = shutil.copytree(
            json.loads(downloaded.stdout)["Dir"], Path(folder) / "azcosmos", copy_function=shutil.copyfile
        )
        return packaged.check(LIST, LOGS, lambda tests, name: _run(go, suite, tests or _tests(suite), name))


def _tests(suite: Path) -> list[str]:
    """Return the names of the tests that use the emulator. The others are unit tests of the SDK."""
    files = sorted(suite.glob("emulator_*_test.go"))
    return [name for file in files for name in re.findall(r"^func (Test\w+)\(", file.read_text("utf-8"), re.MULTILINE)]


def _run(go: str, suite: Path, tests: Iterable[str], name: str) -> list[Outcome]:
    helper = suite / "emulator_test.go"
    with running_emulator(LOGS / f"{name}.emulator.log", "--tls") as endpoint:
        endpoint = endpoint.replace("127.0.0.1", "localhost")
        source = helper.read_text("utf-8")
        helper.write_text(_ADDRESS.sub(endpoint, source), "utf-8")
        environment = {**os.environ, "EMULATOR": "true", "SSL_CERT_FILE": str(packaged.certificate(endpoint, LOGS))}
        try:
            done = subprocess.run(  # noqa: S603 - a fixed command
                [go, "test", "-json", "-count=1", "-run", f"^({'|'.join(tests)})$", "."],
                cwd=suite,
                env=environment,
                capture_output=True,
                text=True,
                timeout=TIMEOUT_S,
                check=False,
            )
        finally:
            helper.write_text(source, "utf-8")
    (LOGS / f"{name}.log").write_text(done.stdout + done.stderr, encoding="utf-8")
    if not (outcomes := read(done.stdout)):
        raise SystemExit(f"The tests cannot be built:\n{done.stdout}{done.stderr}")
    return outcomes


def read(printed: str, depth: int = 0) -> list[Outcome]:
    """Return the outcomes of the tests, or of their parts with `depth` 1, from what `go test -json` prints."""
    outputs: dict[str, str] = {}
    outcomes = []
    for line in printed.splitlines():
        event = json.loads(line) if line.startswith("{") else {}
        test = event.get("Test", "")
        if not test or test.count("/") != depth:
            continue
        outputs[test] = outputs.get(test, "") + " ".join(event.get("Output", "").split())
        if event["Action"] in _RESULTS:
            outcomes.append(Outcome(test, _RESULTS[event["Action"]], outputs[test]))
    return outcomes


if __name__ == "__main__":
    sys.exit(main())
