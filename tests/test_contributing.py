"""The patch that CONTRIBUTING.md describes can be applied, and its tests pass."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.repository_copy import NEEDS_GIT, copy_repository

ROOT = Path(__file__).parents[1]
PATCH = "docs/examples/post-language.patch"


@pytest.mark.nightly
@NEEDS_GIT
def test_the_example_can_be_applied_and_its_tests_pass(tmp_path: Path) -> None:
    copy_repository(tmp_path)
    assert f"`git apply {PATCH}`" in (ROOT / ".github" / "CONTRIBUTING.md").read_text(encoding="utf-8")
    outside = {**os.environ, "GIT_CEILING_DIRECTORIES": str(tmp_path.parent)}  # git apply skips files of a repository
    # Who follows the example has its patches already.
    is_applied = all((tmp_path / name).exists() for name in _new_files())
    if not is_applied:
        subprocess.run(["git", "apply", PATCH], cwd=tmp_path, env=outside, check=True)  # noqa: S603, S607 - git

    command = [sys.executable, "-m", "pytest", "-q", "--assert=plain", "-p", "no:cacheprovider", *_new_files()]
    tested = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False)  # noqa: S603 - fixed

    assert "3 passed" in tested.stdout, tested.stdout + tested.stderr


def _new_files() -> list[str]:
    return re.findall(r"^--- /dev/null\n\+\+\+ b/(.*)$", (ROOT / PATCH).read_text(encoding="utf-8"), re.MULTILINE)
