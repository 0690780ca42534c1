"""ARCHITECTURE.md names each folder, and only files, classes and methods that exist."""

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


def test_each_named_class_has_the_named_method() -> None:
    sources = [path.read_text(encoding="utf-8") for path in PACKAGE.rglob("*.py")]
    classes = {
        name: text for source in sources for name, text in re.findall(r"(?ms)^class (\w+)(.*?)(?=^\S|\Z)", source)
    }
    named = re.findall(r"`([A-Z]\w+)\.(\w+)`", PAGE)

    assert named
    assert [f"{name}.{method}" for name, method in named if f"def {method}" not in classes.get(name, "")] == []
