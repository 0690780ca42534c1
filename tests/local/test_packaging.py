"""Installing the repository gives the local stack: what pyproject.toml says of it agrees with the tree."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
PYPROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def test_it_is_installed_with_the_ranges_that_are_tested() -> None:
    named = PYPROJECT["project"]["dependencies"] + PYPROJECT["project"]["optional-dependencies"]["host"]
    tested = [line for name in ("requirements.txt", "requirements-dev.txt") for line in lines(ROOT / name)]

    assert [one for one in named if one not in tested] == []


def lines(path: Path) -> list[str]:
    return [line.strip() for line in path.read_text(encoding="utf-8").splitlines()]


def test_every_file_that_is_no_python_is_installed_too() -> None:
    packaged = {
        path
        for package, patterns in PYPROJECT["tool"]["setuptools"]["package-data"].items()
        for pattern in patterns
        for path in (ROOT / package.replace(".", "/")).glob(pattern)
    }
    others = {path for path in (ROOT / "local").rglob("*.*") if path.suffix in (".js", ".html", ".css", ".svg")}

    assert others == packaged
