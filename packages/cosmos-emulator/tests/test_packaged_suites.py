"""The programs that run the tests which the Go and the Rust SDK contain, with Go where it is installed."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from tests.go_suite import __main__ as go_suite
from tests.rust_suite import __main__ as rust_suite
from tests.sdk_suite import expectations

ROOT = Path(__file__).parents[1]


def test_each_test_of_go_has_an_outcome_without_its_parts() -> None:
    events = [
        {"Action": "output", "Test": "TestA", "Output": "why\n not\n"},
        {"Action": "fail", "Test": "TestA/part"},
        {"Action": "fail", "Test": "TestA"},
        {"Action": "pass", "Test": "TestB"},
        {"Action": "fail"},
    ]

    outcomes = go_suite.read("building\n" + "\n".join(map(json.dumps, events)))

    assert [(one.test, one.outcome, one.message) for one in outcomes] == [
        ("TestA", "failed", "why not"),
        ("TestB", "passed", ""),
    ]


def test_each_test_of_rust_has_an_outcome() -> None:
    printed = (
        "test a::one - should panic ... ok\ntest a::two ... FAILED\ntest a::three ... ignored, why\n\nfailures:\n\n"
        "---- a::two stdout ----\n\nthread 'a::two' panicked at a.rs:1:2:\nassertion failed\n"
    )

    assert [(one.test, one.outcome, one.message) for one in rust_suite.read(printed)] == [
        ("a::one", "passed", ""),
        ("a::two", "failed", "assertion failed"),
        ("a::three", "skipped", ""),
    ]


@pytest.mark.parametrize("listed", [go_suite.LIST, rust_suite.LIST])
def test_every_expected_failure_has_a_reason(listed: Path) -> None:
    assert expectations.NO_REASON not in json.loads(listed.read_text(encoding="utf-8"))


@pytest.mark.nightly
@pytest.mark.parametrize("suite", ["go_suite", "dapr_suite"])
def test_the_tests_of_a_go_module_do_as_expected(suite: str) -> None:
    done = subprocess.run(  # noqa: S603 - fixed
        [sys.executable, "-m", f"tests.{suite}"], cwd=ROOT, capture_output=True, text=True, check=False
    )

    if done.stdout.startswith("Skipped"):
        pytest.skip(done.stdout)
    assert done.returncode == 0, done.stdout + done.stderr
