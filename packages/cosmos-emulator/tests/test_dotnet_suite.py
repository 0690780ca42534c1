"""The program that runs the emulator tests of the .NET SDK, with a script that stands in for the compiled suite."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.dotnet_suite.__main__ import LIST, read
from tests.sdk_suite import expectations

LOG = """\
passed One (271ms)
failed Two (1s 012ms)
  Assert.AreEqual failed. Expected:<Created>.
  Actual:<BadRequest>.
    at Microsoft.Azure.Cosmos
skipped Three (0ms)
passed a title (3m 02s 100ms)
failed a title (1ms)
  why

Test run summary: Failed! - suite.dll (net10.0|x64)
"""


def test_each_test_has_an_outcome_and_a_title_of_its_own() -> None:
    found = {one.test: (one.outcome, one.message[:25]) for one in read("SomeTests", LOG)}

    assert found == {
        "SomeTests::One": ("passed", ""),
        "SomeTests::Two": ("failed", "Assert.AreEqual failed. E"),
        "SomeTests::Three": ("skipped", ""),
        "SomeTests::a title": ("passed", ""),
        "SomeTests::a title #2": ("failed", "why"),
    }


def test_a_class_that_was_killed_has_a_failure() -> None:
    assert [one.outcome for one in read("SomeTests", LOG.partition("\nTest run")[0])][-1] == "failed"


@pytest.mark.skipif(sys.platform == "win32", reason="the compiled suite is for Linux")
def test_a_surprise_in_either_direction_fails(tmp_path: Path) -> None:
    finished = run(tmp_path, "SomeTests", LOG)

    assert finished.returncode == 1, finished.stderr
    assert "Unexpected failure: SomeTests::Two (failed)" in finished.stdout
    assert "4 tests: 2 passed" in finished.stdout


@pytest.mark.skipif(sys.platform == "win32", reason="the compiled suite is for Linux")
@pytest.mark.parametrize(("end", "code"), [("", 0), ("\nTest run summary: Failed!\n", 1)])
def test_listed_tests_can_be_absent_only_if_their_class_was_killed(tmp_path: Path, end: str, code: int) -> None:
    finished = run(tmp_path, "ClientTelemetryTests", f"passed One (271ms)\n{end}")

    assert finished.returncode == code, finished.stdout
    assert ("did not run" in finished.stdout) == bool(code)


def run(folder: Path, name: str, log: str) -> subprocess.CompletedProcess[str]:
    """Run the program with a suite that has one class, which writes this log."""
    suite = folder / "run"
    suite.write_text(
        f"#!{sys.executable}\nimport pathlib, sys\n"
        "output = pathlib.Path(sys.argv[sys.argv.index('--output') + 1])\n"
        f"(output / 'Some.{name}.log').write_text({log!r})\n"
    )
    suite.chmod(0o755)
    return subprocess.run(  # noqa: S603 - a fixed command
        [sys.executable, "-m", "tests.dotnet_suite", "--output", str(folder / "logs"), name],
        env={**os.environ, "COSMOS_DOTNET_TESTS": str(folder)},
        capture_output=True,
        text=True,
        check=False,
    )


def test_every_expected_failure_has_a_reason() -> None:
    assert expectations.NO_REASON not in json.loads(LIST.read_text(encoding="utf-8"))
