"""Wording that makes people read a sentence twice, in code and documentation."""

from __future__ import annotations

import re
import subprocess

from tests.repository_copy import NEEDS_GIT
from tests.running_app import REPOSITORY

# History, and texts by others.
LEFT_OUT = (":!CHANGELOG.md", ":!THIRD_PARTY_NOTICES.md", ":!management/seeding", ":!tests/test_prose.py")


@NEEDS_GIT
def test_texts_repeat_the_noun_instead_of_that_of_or_those_of() -> None:
    command = ["git", "ls-files", "*.py", "*.md", *LEFT_OUT]
    listed = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, check=True).stdout.split()  # noqa: S603 - fixed
    found = [
        f"{name}: {match[0]}"
        for name in listed
        for match in re.finditer(r"\b(that|those)\s+of\b.*", (REPOSITORY / name).read_text("utf-8"), re.IGNORECASE)
    ]

    assert listed
    assert found == []
