"""docs/checklists.md names tests that exist, for every line or with a reason."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import pytest

HERE = Path(__file__).parent
CHECKLISTS = HERE.parents[1] / "docs" / "checklists.md"
LINES = {"The database gateway": 64, "The limits of the service": 17, "The Functions host": 40}
NODE = re.compile(r"`([^`]+)::([^`]+)`")


class Line(NamedTuple):
    """A row of a table: the section that it is in, its number, and the cell that says what proves it."""

    section: str
    number: int
    proof: str


def read_lines() -> Iterator[Line]:
    section = ""
    for text in CHECKLISTS.read_text().splitlines():
        if text.startswith("## "):
            section = text.removeprefix("## ")
        elif row := re.fullmatch(r"\| (\d+) \| .+ \| (.+) \|", text):
            yield Line(section, int(row[1]), row[2])


@cache
def names_of_tests(path: Path) -> frozenset[str]:
    """The functions of a Python file, or the titles of a JavaScript one."""
    source = path.read_text()
    if path.suffix == ".js":
        return frozenset(re.findall(r'^test\("(.+?)", ', source, re.MULTILINE))
    functions = (
        node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    )
    return frozenset(node.name for node in functions)


@pytest.mark.parametrize("section", [*LINES])
def test_every_line_is_there_and_in_order(section: str) -> None:
    numbers = [line.number for line in read_lines() if line.section == section]

    assert numbers[:1] == [1]
    assert all(after == before + 1 for before, after in pairwise(numbers))
    assert len(numbers) == LINES[section]


@pytest.mark.parametrize("line", [*read_lines()], ids=lambda line: f"{line.section} {line.number}")
def test_a_line_is_proved_by_tests_that_exist_or_says_why_not(line: Line) -> None:
    proofs = NODE.findall(line.proof)

    assert proofs or len(line.proof) > 20
    assert [f"{file}::{name}" for file, name in proofs if name not in names_of_tests(HERE / file)] == []
