"""The program that runs Microsoft's tests of azure-cosmos, with a suite of a few tests."""

from __future__ import annotations

import json
import os
import subprocess
import tarfile
from importlib.metadata import version
from pathlib import Path

import pytest
from tests.sdk_suite import download, execution, expectations
from tests.sdk_suite.execution import Outcome

# What the program needs of Microsoft's configuration.
CONFIGURATION = """
import os
from azure.cosmos import CosmosClient
from devtools_testutils.azure_recorded_testcase import get_credential
from devtools_testutils.helpers import is_live

class TestConfig:
    local_host = "https://localhost:8081/"
    host = os.getenv("ACCOUNT_HOST", local_host)
    credential = get_credential()
"""
TESTS = """
import os
import pytest
from test_config import CosmosClient, TestConfig, is_live

pytestmark = pytest.mark.cosmosEmulator

def test_passing():
    with CosmosClient(TestConfig.local_host, TestConfig.credential) as client:
        client.create_database("db")
    assert TestConfig.is_emulator and not is_live()

def test_failing():
    assert False, "the reason"

@pytest.fixture
def broken():
    yield
    raise ValueError("the teardown")

def test_failing_in_its_teardown(broken):
    pass

@pytest.mark.skip(reason="not here")
def test_skipped():
    pass

def test_crashing():
    os._exit(3)

def test_after_the_crash():
    pass
"""
LISTED = {"a.py::failing": "one", "a.py::passing": "one", "a.py::unsure": "one", "a.py::removed": "two"}


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    folder = tmp_path / "tests"
    folder.mkdir()
    (folder / "test_config.py").write_text(CONFIGURATION)
    (folder / "test_some.py").write_text(TESTS)
    (folder / "test_other.py").write_text(TESTS.replace("cosmosEmulator", "cosmosMultiRegion"))
    return folder


def test_every_marked_test_has_one_outcome(suite: Path, tmp_path: Path) -> None:
    outcomes = execution.run(suite, ["test_some.py", "test_other.py"], tmp_path / "log")

    found = {one.test.removeprefix("test_some.py::"): (one.outcome, one.message.partition("\n")[0]) for one in outcomes}
    assert found.pop("test_skipped")[0] == "skipped"
    assert found == {
        "test_passing": ("passed", ""),
        "test_failing": ("failed", "AssertionError: the reason"),
        "test_failing_in_its_teardown": ("failed", "ValueError: the teardown"),
        "test_crashing": ("failed", "did not finish: the process ended with status 3"),
        "test_after_the_crash": ("failed", "did not finish: the process ended with status 3"),
    }


def test_an_error_at_import_is_a_failure(suite: Path, tmp_path: Path) -> None:
    (suite / "test_some.py").write_text("import missing_module")

    (outcome,) = execution.run(suite, ["test_some.py"], tmp_path / "log")

    assert (outcome.test, outcome.outcome) == ("test_some.py", "failed")
    assert "missing_module" in outcome.message


def test_an_interrupted_download_leaves_no_part_of_the_suite(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    installed = version("azure-cosmos")
    source = tmp_path / f"azure_cosmos-{installed}"
    (source / "tests").mkdir(parents=True)
    for name in ("test_a.py", "test_b.py"):
        (source / "tests" / name).write_bytes(os.urandom(100_000))

    def download_half(command: list[str], **_: object) -> None:
        archive = Path(command[command.index("--dest") + 1]) / "azure_cosmos.tar.gz"
        with tarfile.open(archive, "w:gz") as content:
            content.add(source, source.name)
        os.truncate(archive, 150_000)

    monkeypatch.setattr(subprocess, "run", download_half)
    monkeypatch.setattr(download, "CACHE", tmp_path / "cache")

    with pytest.raises(EOFError):
        download.suite()

    assert list((tmp_path / "cache").iterdir()) == []


def test_a_run_is_compared_with_the_list() -> None:
    outcomes = [
        Outcome("a.py::failing", "failed", "as ever"),
        Outcome("a.py::passing", "passed", ""),
        Outcome("a.py::unsure", "passed", ""),
        Outcome("a.py::fine", "passed", ""),
        Outcome("a.py::broken", "failed", "new"),
        Outcome("a.py::unstable", "failed", "now and then"),
        Outcome("a.py::skipped", "skipped", "not here"),
    ]
    reruns = [
        Outcome("a.py::passing", "passed", ""),
        Outcome("a.py::unsure", "failed", "as ever"),
        Outcome("a.py::broken", "failed", "new"),
        Outcome("a.py::unstable", "passed", ""),
    ]

    result = expectations.compare(outcomes, reruns, LISTED)

    assert result.expected == {"one": ["a.py::failing"]}
    assert result.unexpected_passes == ["a.py::passing"]
    assert result.absent == ["a.py::removed"]
    assert result.passed == ["a.py::fine"]
    assert [one.test for one in result.unexpected_failures] == ["a.py::broken"]
    assert [one.test for one in result.flaky] == ["a.py::unsure", "a.py::unstable"]
    assert result.skipped == ["a.py::skipped"]
    assert not result.is_as_expected


@pytest.mark.parametrize(
    ("outcome", "is_as_expected"), [("failed", True), ("passed", False), ("skipped", False), (None, False)]
)
def test_a_listed_test_must_fail(outcome: str | None, is_as_expected: bool) -> None:
    outcomes = [] if outcome is None else [Outcome("a.py::failing", outcome, "")]

    result = expectations.compare(outcomes, outcomes, {"a.py::failing": "one"})

    assert result.is_as_expected == is_as_expected


def test_an_update_keeps_reasons_and_other_files(tmp_path: Path) -> None:
    path = tmp_path / "list.json"
    reasons = {**LISTED, "b.py::failing": "one"}
    outcomes = [Outcome("a.py::failing", "failed", ""), Outcome("a.py::passing", "passed", "")]
    outcomes += [Outcome("a.py::broken", "failed", "new")]

    result = expectations.compare(outcomes, outcomes, expectations.of_files(reasons, ["a.py"]))
    expectations.update(result, reasons, path)

    assert json.loads(path.read_text("utf-8")) == {
        expectations.NO_REASON: ["a.py::broken"],
        "one": ["a.py::failing", "b.py::failing"],
    }


def test_every_expected_failure_has_a_reason() -> None:
    assert expectations.NO_REASON not in expectations.read_reasons().values()
