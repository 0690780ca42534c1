"""A copy of the repository, which a test can change."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from tests.running_app import REPOSITORY

NEEDS_GIT = pytest.mark.skipif(not (REPOSITORY / ".git").exists(), reason="needs git to list the files")
# The packages are installed from where they are.
_UNUSED = ("packages/", "docs/images/")


def copy_repository(folder: Path) -> None:
    """Copy the files that tests of the blog use."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, check=True)  # noqa: S603 - fixed
    for name in listed.stdout.splitlines():
        if (REPOSITORY / name).is_file() and not name.startswith(_UNUSED):
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(REPOSITORY / name, folder / name)
