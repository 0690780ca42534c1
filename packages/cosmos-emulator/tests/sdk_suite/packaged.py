"""Run the tests that an SDK's package contains, and compare the outcomes with a list of expected failures."""

from __future__ import annotations

import argparse
import shutil
import ssl
import sys
import urllib.request
from collections.abc import Callable, Sequence
from pathlib import Path

from tests.sdk_suite import expectations
from tests.sdk_suite.execution import Outcome


def tool(name: str) -> str | None:
    """Return the path of a program, or say that the tests are skipped."""
    path = shutil.which(name)
    if path is None:
        sys.stdout.write(f"Skipped: {name} is not installed.\n")
    return path


def check(listed: Path, logs: Path, run: Callable[[Sequence[str], str], list[Outcome]]) -> int:
    """Return the exit code. `run` runs the tests with these names, or all, and names its logs.

    Fails on an unexpected failure and on an unexpected pass, each of which runs again first.
    """
    parser = argparse.ArgumentParser()
    parser.add_argument("--update", action="store_true", help="rewrite the list of expected failures")
    options = parser.parse_args()
    reasons = expectations.read_reasons(listed)
    outcomes = run([], "first")
    surprising = [one.test for one in outcomes if expectations.is_surprising(one, reasons)]
    result = expectations.compare(outcomes, run(surprising, "rerun") if surprising else [], reasons)
    sys.stdout.write(expectations.report(result, logs))
    if options.update:
        expectations.update(result, reasons, listed)
    return 0 if result.is_as_expected else 1


def certificate(endpoint: str, folder: Path) -> Path:
    """Store the emulator's certificate, which some tests verify."""
    unverified = ssl._create_unverified_context()  # noqa: S323 - of a process that this one has started
    with urllib.request.urlopen(f"{endpoint}_explorer/emulator.pem", context=unverified) as response:  # noqa: S310
        file = folder / "emulator.pem"
        file.write_bytes(response.read())
        return file
