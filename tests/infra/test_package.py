"""The deployment package has everything that the app needs, and nothing else."""

from __future__ import annotations

import re
import zipfile
from collections.abc import Iterable
from pathlib import Path

from pathspec import GitIgnoreSpec

from management.package import build, packaged_files
from tests.running_app import REPOSITORY

# Anything else at the top is for development.
DEPLOYED = {"function_app.py", "functions", "host.json", "requirements.txt", "shared"}
DEPLOYED |= {"addons"}


# Of a package that is built before the deployment (docs/deploy.md).
PREBUILT = ".python_packages/lib/site-packages/azure/cosmos/__init__.py"


def deployed_files() -> set[str]:
    found = [
        path for name in DEPLOYED for path in [REPOSITORY / name, *(REPOSITORY / name).rglob("*")] if path.is_file()
    ]
    return {path.relative_to(REPOSITORY).as_posix() for path in found if path.suffix != ".pyc"}


def test_the_package_has_the_deployed_files_only() -> None:
    assert set(packaged_files()) == deployed_files()


def test_core_tools_and_azd_ignore_the_same_files() -> None:
    """azd reads .funcignore like git. Core Tools compares each pattern with the beginning of the path.

    https://github.com/Azure/azure-functions-core-tools, GitIgnoreParser.cs: a path that a negative pattern matches is
    accepted, whatever the others say.
    """
    lines = (REPOSITORY / ".funcignore").read_text(encoding="utf-8").splitlines()
    patterns = [line for line in lines if not line.startswith("#")]
    kept = _beginnings(line.removeprefix("!") for line in patterns if line.startswith("!"))
    ignored = _beginnings(line for line in patterns if not line.startswith("!"))
    at_the_top = {f"{entry.name}/file" if entry.is_dir() else entry.name for entry in REPOSITORY.iterdir()}
    at_the_top |= {"venv/file", "env/file", ".env", ".azure/file"}
    caches = {f"{folder}__pycache__/a.cpython-313.pyc" for folder in ("", "shared/", "shared/data/")}
    not_deployed = {file for file in at_the_top if file.partition("/")[0] not in DEPLOYED}

    assert {file for file in deployed_files() | not_deployed | caches if not ignored.match(file)} == deployed_files()
    assert kept.match(PREBUILT)
    assert not any(kept.match(file) for file in not_deployed | caches)
    spec = GitIgnoreSpec.from_lines(lines)
    assert not spec.match_file(PREBUILT)
    assert all(spec.match_file(file) for file in not_deployed | caches)


def _beginnings(patterns: Iterable[str]) -> re.Pattern[str]:
    escaped = "|".join(re.escape(pattern.removeprefix("/")) for pattern in patterns)
    return re.compile(escaped.replace(r"\*\*", ".+").replace(r"\*", "[^/]+"))


def test_building_twice_gives_the_same_package(tmp_path: Path) -> None:
    first, second = tmp_path / "first.zip", tmp_path / "second.zip"
    build(first)
    build(second)

    assert first.read_bytes() == second.read_bytes()
    with zipfile.ZipFile(first) as archive:
        assert archive.namelist() == packaged_files()
