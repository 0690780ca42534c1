"""docs/security.md covers every OWASP category and names existing tests."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

TESTS = Path(__file__).parent
TABLE = (TESTS.parent / "docs" / "security.md").read_text(encoding="utf-8")
NAMED = re.findall(r"`([\w/]+\.py)::(\w+)`", TABLE)


def test_every_owasp_category_is_covered() -> None:
    numbers = re.findall(r"^\| API(\d+) \|", TABLE, re.MULTILINE)

    assert sorted(set(numbers), key=int) == [str(number) for number in range(1, 11)]


@pytest.mark.parametrize(("file", "name"), sorted(set(NAMED)))
def test_tests_named_in_the_table_exist(file: str, name: str) -> None:
    tree = ast.parse((TESTS / file).read_text(encoding="utf-8"))

    functions = (ast.FunctionDef, ast.AsyncFunctionDef)
    assert name in {node.name for node in tree.body if isinstance(node, functions)}
