"""Tests against a real account (real_account.py), for which an emulator in another process stands in."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from azure.cosmos import CosmosClient
from cosmos_emulator import WELL_KNOWN_KEY
from tests.processes import running_emulator

ROOT = Path(__file__).parents[1]


@pytest.fixture
def endpoint(tmp_path: Path) -> Iterator[str]:
    with running_emulator(tmp_path / "emulator.log") as endpoint:
        yield endpoint


def run(endpoint: str, *arguments: str, **changes: str) -> subprocess.CompletedProcess[str]:
    account = {"COSMOS_TEST_ENDPOINT": endpoint, "COSMOS_TEST_KEY": WELL_KNOWN_KEY}
    return subprocess.run(  # noqa: S603 - a fixed command
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *arguments],
        cwd=ROOT,
        env={**os.environ, **account, **changes},
        capture_output=True,
        text=True,
        check=False,
    )


def test_tests_of_behavior_run_and_the_others_say_why_not(endpoint: str) -> None:
    done = run(
        endpoint, "tests/test_conditions.py", "tests/test_limits.py", "tests/test_ttl.py", "tests/test_hashing.py"
    )

    assert done.returncode == 0, done.stdout
    assert re.search(r"\d\d passed, \d+ skipped, \d+ deselected", done.stdout)
    for reason in ("changes the time", "buys throughput", "creates databases"):
        assert re.search(f"SKIPPED .*: {reason}", done.stdout)
    (spent,) = re.findall(rf"(\d+) RU of {endpoint}", done.stdout)
    assert int(spent) > 100
    with CosmosClient(endpoint, WELL_KNOWN_KEY) as client:
        assert list(client.list_databases()) == []


def test_the_run_stops_at_the_cap(endpoint: str) -> None:
    done = run(endpoint, "tests/test_conditions.py", COSMOS_TEST_MAX_RU="1")

    assert "COSMOS_TEST_MAX_RU is 1" in done.stdout
    assert re.search(r"^1 passed", done.stdout, re.MULTILINE)


def test_an_account_with_databases_is_left_alone(endpoint: str) -> None:
    with CosmosClient(endpoint, WELL_KNOWN_KEY) as client:
        client.create_database("of somebody")
        done = run(endpoint, "tests/test_conditions.py")

        assert "Use an empty account" in done.stdout + done.stderr
        assert [one["id"] for one in client.list_databases()] == ["of somebody"]
