"""The program that runs the tests of the JavaScript SDK, with a script that stands in for Node.js."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.javascript_suite.__main__ import LIST, read
from tests.sdk_suite import expectations

FILE = "public/functional/item/itemIdEncoding.spec.js"
REPORT: dict[str, Any] = {
    "stats": {"tests": 4},
    "passes": [{"fullTitle": "Items  One", "err": {}}, {"fullTitle": "a title", "err": {}}],
    "failures": [{"fullTitle": "a title", "err": {"message": "why\nnot"}}],
    "pending": [{"fullTitle": "Three", "err": {}}],
}


def printed(report: dict[str, Any]) -> str:
    """What Mocha prints: a report after what the tests print."""
    return '{\n  "stats": not the report\n' + json.dumps(report, indent=2) + "\n"


def test_each_test_has_an_outcome_and_a_title_of_its_own() -> None:
    found = {one.test: (one.outcome, one.message) for one in read("a.spec.js", printed(REPORT))}

    assert found == {
        "a.spec.js::Items One": ("passed", ""),
        "a.spec.js::a title": ("passed", ""),
        "a.spec.js::a title #2": ("failed", "why not"),
        "a.spec.js::Three": ("skipped", ""),
    }


@pytest.mark.parametrize("log", ["", "Error: no module\n", printed(REPORT)[:-20]])
def test_a_file_without_a_report_has_a_failure(log: str) -> None:
    assert [(one.test, one.outcome) for one in read("a.spec.js", log)] == [("a.spec.js::the file", "failed")]


@pytest.mark.skipif(sys.platform == "win32", reason="a script stands in for Node.js")
def test_a_surprise_in_either_direction_fails(tmp_path: Path) -> None:
    listed = next(test for test in expectations.read_reasons(LIST) if test.startswith(FILE)).partition("::")[2]
    report = {**REPORT, "passes": [*REPORT["passes"], {"fullTitle": listed, "err": {}}]}

    finished = run(tmp_path, printed(report))

    assert finished.returncode == 1, finished.stderr
    assert f"Unexpected failure: {FILE}::a title #2 (failed)" in finished.stdout
    assert f"Unexpected pass: {FILE}::{listed}" in finished.stdout
    assert "4 tests: 3 passed" in finished.stdout


@pytest.mark.skipif(sys.platform == "win32", reason="a script stands in for Node.js")
def test_the_list_of_a_file_that_does_not_finish_is_not_absent(tmp_path: Path) -> None:
    finished = run(tmp_path, "")

    assert finished.returncode == 1, finished.stderr
    assert f"Unexpected failure: {FILE}::the file (failed)" in finished.stdout
    assert "did not run" not in finished.stdout


def run(folder: Path, log: str) -> subprocess.CompletedProcess[str]:
    """Run the program with a suite that has one file, whose tests print this."""
    for path in ("node_modules/mocha", f"compiled/test/{FILE}"):
        (folder / path).mkdir(parents=True)
    node = folder / "node"
    node.write_text(f"#!{sys.executable}\nprint({log!r})\n")
    node.chmod(0o755)
    return subprocess.run(  # noqa: S603 - a fixed command
        [sys.executable, "-m", "tests.javascript_suite", "--output", str(folder / "logs")],
        env={**os.environ, "COSMOS_JAVASCRIPT_TESTS": str(folder), "PATH": f"{folder}:{os.environ['PATH']}"},
        capture_output=True,
        text=True,
        check=False,
    )


def test_every_expected_failure_has_a_reason() -> None:
    assert expectations.NO_REASON not in json.loads(LIST.read_text(encoding="utf-8"))
