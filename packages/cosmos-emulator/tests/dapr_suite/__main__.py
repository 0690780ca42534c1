"""Run Dapr's conformance tests of its state store for Cosmos DB, and compare the outcomes with the expected failures.

    python -m tests.dapr_suite [--update]

The Go module contains the tests, so Go downloads them by name. The first build takes minutes.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from azure.cosmos import CosmosClient, PartitionKey
from cosmos_emulator import WELL_KNOWN_KEY
from tests.go_suite.__main__ import read
from tests.processes import running_emulator
from tests.sdk_suite import packaged
from tests.sdk_suite.execution import Outcome

MODULE, VERSION = "github.com/dapr/components-contrib", "v1.18.0"
LOGS = Path(__file__).resolve().parents[4] / ".data" / "dapr-suite"
LIST = Path(__file__).with_name("expected_failures.json")
TIMEOUT_S = 1800.0


def main() -> int:
    if (go := packaged.tool("go")) is None:
        return 0
    LOGS.mkdir(parents=True, exist_ok=True)
    shutil.copy(Path(__file__).with_name("conformance_test.go"), LOGS)
    (LOGS / "go.mod").write_text(f"module conformance\n\ngo 1.26\n\nrequire {MODULE} {VERSION}\n", encoding="utf-8")
    built = subprocess.run(  # noqa: S603 - a fixed command
        [go, "test", "-mod=mod", "-run", "^$", "."], cwd=LOGS, capture_output=True, text=True, check=False
    )
    if built.returncode:
        sys.stdout.write(f"Skipped: {MODULE} cannot be downloaded and built: {built.stdout}{built.stderr}\n")
        return 0
    return packaged.check(LIST, LOGS, lambda tests, name: _run(go, tests, name))


def _run(go: str, tests: Sequence[str], name: str) -> list[Outcome]:
    """Run all tests, because each needs what the earlier ones have stored, and return the outcomes of `tests`."""
    with running_emulator(LOGS / f"{name}.emulator.log") as endpoint:
        with CosmosClient(endpoint, WELL_KNOWN_KEY) as client:
            # The store expects a container with this key that can expire items.
            client.create_database("dapr").create_container("state", PartitionKey("/partitionKey"), default_ttl=-1)
        done = subprocess.run(  # noqa: S603 - a fixed command
            [go, "test", "-mod=mod", "-json", "-count=1", "."],
            cwd=LOGS,
            env={**os.environ, "COSMOS_ENDPOINT": endpoint, "COSMOS_KEY": WELL_KNOWN_KEY},
            capture_output=True,
            text=True,
            timeout=TIMEOUT_S,
            check=False,
        )
    (LOGS / f"{name}.log").write_text(done.stdout + done.stderr, encoding="utf-8")
    return [one for one in read(done.stdout, depth=1) if not tests or one.test in tests]


if __name__ == "__main__":
    sys.exit(main())
