"""ARCHITECTURE.md names each folder, and only files that exist."""

from __future__ import annotations

import re
from pathlib import Path

import functions_host

PACKAGE = Path(functions_host.__file__).parent
PAGE = (Path(__file__).parents[1] / "ARCHITECTURE.md").read_text(encoding="utf-8")


def test_each_folder_is_in_the_table() -> None:
    folders = {path.parent.name for path in PACKAGE.glob("*/__init__.py")}

    assert set(re.findall(r"(?m)^\| `(\w+)/`", PAGE)) == folders


def test_each_named_file_exists() -> None:
    named = re.findall(r"`([\w/*]+\.py)`", PAGE)

    assert [name for name in named if not list(PACKAGE.glob(name))] == []
