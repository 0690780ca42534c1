"""The guides in docs/: their code runs, and their configurations match the emulator."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from cosmos_emulator import WELL_KNOWN_KEY, CosmosAccount, CosmosEmulator
from cosmos_emulator.__main__ import parse_arguments
from cosmos_emulator.partitioning.partition_keys import PartitionKeyDefinition

pytest_plugins = ["pytester"]

PACKAGE = Path(__file__).parents[1]
README = (PACKAGE / "README.md").read_text(encoding="utf-8")
GUIDES = {path.name: path.read_text(encoding="utf-8") for path in (PACKAGE / "docs").glob("*.md")}


def blocks(guide: str, language: str) -> list[str]:
    """The code blocks of a guide in a language."""
    return re.findall(rf"^```{language}\n(.*?)^```$", GUIDES[guide], re.MULTILINE | re.DOTALL)


PYTHON = {code.split("\n", 1)[0].removeprefix("# "): code for code in blocks("testing.md", "python")}


@pytest.mark.nightly
@pytest.mark.parametrize("name", [name for name in PYTHON if "unittest" not in name])
def test_the_pytest_examples_pass(pytester: pytest.Pytester, name: str) -> None:
    pytester.makeini("[pytest]\nfilterwarnings = error\nasyncio_default_fixture_loop_scope = function\n")
    (pytester.path / name).write_text(PYTHON[name], encoding="utf-8")

    result = pytester.runpytest_subprocess("-p", "no:cacheprovider", name)

    result.assert_outcomes(passed=PYTHON[name].count("def test_"))


@pytest.mark.nightly
@pytest.mark.parametrize("name", [name for name in PYTHON if "unittest" in name])
def test_the_unittest_examples_pass(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text(PYTHON[name], encoding="utf-8")

    command = [sys.executable, "-W", "error", "-m", "unittest", name]
    result = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False)  # noqa: S603 - a fixed command

    assert result.returncode == 0, result.stderr
    assert f"Ran {PYTHON[name].count('def test_')} test" in result.stderr
    assert "Warning" not in result.stderr


def test_the_options_in_the_container_exist() -> None:
    commands = re.findall(r"docker run .*?cosmos-emulator( --[^`\n]*)", GUIDES["docker.md"])
    compose = re.findall(r"command: (.*)", GUIDES["docker.md"])

    assert [parse_arguments(command.split()).throttle for command in commands] == [True]
    assert [parse_arguments(json.loads(command)).partitions for command in compose] == [2]


async def test_the_example_of_an_exported_file_can_be_imported(tmp_path: Path) -> None:
    file, exported = tmp_path / "given.jsonl", tmp_path / "exported.jsonl"
    (example,) = blocks("testing.md", "json")
    file.write_text(example, encoding="utf-8")

    async with CosmosEmulator() as emulator:
        await emulator.controls.import_from(file)
        await emulator.controls.export_to(exported)

    given, written = ([json.loads(line) for line in path.read_text().splitlines()] for path in (file, exported))
    assert given.pop(2)["container"]["id"] == written.pop(2)["container"]["id"]  # with the default policies
    assert given == written


def test_the_account_has_what_the_guide_lists() -> None:
    listed = GUIDES["testing.md"].partition("The account has ")[2].partition("Close an asynchronous client")[0]

    names = re.findall(r"`(\w+)(?:\(\))?`", listed)

    assert set(names) == {name for name in vars(CosmosAccount) if not name.startswith("_")}


def test_the_hierarchical_key_of_the_guide_is_valid() -> None:
    (key,) = re.findall(r'`"partitionKey": (\{.*MultiHash"\})`', GUIDES["testing.md"])

    assert PartitionKeyDefinition.parse(json.loads(key), strict=True).paths == (("tenant",), ("user",))


def test_every_example_uses_the_well_known_key() -> None:
    keys = [key for text in GUIDES.values() for key in re.findall(r"C2y6[\w+/]+=*", text)]

    assert len(keys) == 6
    assert set(keys) == {WELL_KNOWN_KEY}


def test_every_guide_is_linked_in_the_readme() -> None:
    assert [name for name in GUIDES if f"](docs/{name}" not in README] == []


def test_the_readme_lists_every_option(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        parse_arguments(["--help"])
    options = set(re.findall(r"^  (?:-h, )?(--[a-z-]+)", capsys.readouterr().out, re.MULTILINE))
    table = README.partition("## Options")[2].partition("\n\n")[2].partition("\n\n")[0]
    first_cells = re.findall(r"^\| (`.+?) \|", table, re.MULTILINE)

    assert set(re.findall(r"`(--[a-z-]+)", " ".join(first_cells))) == options - {"--help", "--version"}


def rows(text: str) -> list[list[str]]:
    """The cells of the first table, without its head."""
    lines = text[text.index("|---") :].split("\n\n", 1)[0].splitlines()[1:]
    return [line.removeprefix("| ").removesuffix(" |").split(" | ") for line in lines]


def test_every_cell_of_the_comparison_has_a_source() -> None:
    comparison = GUIDES["comparison.md"]
    cells = [cell for row in rows(comparison) for cell in row[1:]]

    assert len(cells) == 17 * 8
    assert [cell for cell in cells if "](" not in cell and "][" not in cell and cell != "not found"] == []
    defined = set(re.findall(r"^\[([a-z0-9-]+)]: https://", comparison, re.MULTILINE))
    assert set(re.findall(r"]\[([a-z0-9-]+)]", comparison)) == defined


def test_relative_links_of_the_readme_lead_to_files() -> None:
    assert [path for path in re.findall(r"]\(([a-z][^):#]+)[)#]", README) if not (PACKAGE / path).exists()] == []
