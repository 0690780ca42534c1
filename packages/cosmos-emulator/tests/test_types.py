"""What type checkers report about programs that use the package."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[1] / "src"
HELPERS = """
from cosmos_emulator import AdjustableClock, CosmosAccount, CosmosError, Fault, FaultRule
from cosmos_emulator import OperationName, RecordedRequest
from cosmos_emulator import NoSuchThing

def charges(account: CosmosAccount, operation: OperationName) -> list[float]:
    with account.recording() as recording:
        pass
    requests: list[RecordedRequest] = recording.of(operation=operation).requests
    return [one.request_units for one in requests]

def rule_of(fault: Fault) -> FaultRule:
    return fault.rule

def clock_of(account: CosmosAccount) -> AdjustableClock:
    return account.clock

def status_of(error: CosmosError, account: CosmosAccount) -> int:
    with account.recording() as recording:
        recording.of(operation="creat")
    return error.status
"""


@pytest.mark.nightly
def test_mypy_knows_the_types_of_test_helpers_and_no_others(tmp_path: Path) -> None:
    helpers = tmp_path / "helpers.py"
    helpers.write_text(HELPERS, encoding="utf-8")

    command = [
        sys.executable,
        "-m",
        "mypy",
        "--strict",
        "--no-error-summary",
        "--cache-dir",
        str(tmp_path),
        str(helpers),
    ]
    result = subprocess.run(  # noqa: S603 - a fixed command
        command, env={**os.environ, "MYPYPATH": str(SOURCE)}, capture_output=True, text=True, timeout=120, check=False
    )

    errors = [line for line in result.stdout.splitlines() if ": error: " in line]
    assert ["NoSuchThing" in errors[0], "creat" in errors[1], len(errors)] == [True, True, 2], result.stdout
