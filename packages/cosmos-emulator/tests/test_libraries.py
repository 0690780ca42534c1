"""The program that tries libraries which are built on azure-cosmos, with scripts that need only this environment."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest
from tests.libraries import __main__ as program
from tests.libraries.__main__ import LIBRARIES, README, Attempt, Library


def test_each_library_has_a_script() -> None:
    scripts = {path for path in program.FOLDER.glob("*.py") if path.name != "__main__.py"}

    assert {library.script for library in LIBRARIES} == scripts


def test_the_readme_names_the_libraries_that_work() -> None:
    found = re.search(r"<!-- libraries -->\n(.*?)<!-- end -->", README.read_text(encoding="utf-8"), re.DOTALL)

    assert found is not None
    assert re.search(r"^These passed on \d{4}-\d\d-\d\d:\n", found[1])
    rows = re.findall(r"^\| (\S+) \| (\d\S+) \| (.+) \|$", found[1], re.MULTILINE)
    assert [(name, tried) for name, _, tried in rows] == [(one.name, one.tried) for one in LIBRARIES if not one.fault]


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("end", "passed", "reason"),
    [
        ("", True, ""),
        ("raise ValueError('why')", False, "ValueError: why ("),
        # As the thread of azure-cosmos that checks the account's regions does, if it is late.
        (
            "import atexit, logging; atexit.register(logging.getLogger('azure').error, 'OSError: late')\n"
            "raise ValueError('why')",
            False,
            "ValueError: why (",
        ),
        ("import os; os._exit(3)", False, "failed ("),
    ],
)
def test_a_script_uses_an_empty_emulator(tmp_path: Path, end: str, passed: bool, reason: str) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        "from azure.cosmos import CosmosClient\n"
        "from scenario import CONNECTION_STRING\n"
        "with CosmosClient.from_connection_string(CONNECTION_STRING) as client:\n"
        "    assert list(client.list_databases()) == []\n"
        f"{end}\n"
    )

    outcome = program._run(script, Path(sys.executable), tmp_path / "script.log")

    assert outcome[0] == passed
    assert outcome[1].startswith(reason)


def test_a_library_whose_fault_is_known_must_fail() -> None:
    faulty = Library("faulty", "nothing", fault="it does not start")

    assert [Attempt(faulty, "1", passed).is_expected for passed in (True, False)] == [False, True]
    assert "faulty" not in program.table([Attempt(faulty, "1", passed=False)])
