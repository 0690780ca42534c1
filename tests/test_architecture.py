"""docs/architecture.md lists the files that handle a request and a change."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest

from tests.running_app import REPOSITORY

PAGE = (REPOSITORY / "docs" / "architecture.md").read_text(encoding="utf-8")
FILE = re.compile(r"`((?:functions|shared)/[\w/]+\.py)`")


@pytest.fixture(scope="module")
def traced() -> dict[str, set[str]]:
    """The files that run for each function, by its name: about 2 s."""
    command = [sys.executable, "-m", "bench.call_paths"]
    printed = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, check=True).stdout  # noqa: S603 - fixed
    files = dict[str, set[str]]()
    for path in re.split(r"^(?=\S)", printed, flags=re.MULTILINE)[1:]:
        title, *lines = path.splitlines()
        files.setdefault(title.partition(":")[0], set()).update(line.strip() for line in lines)
    return files


def _section(heading: str) -> str:
    return PAGE.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]


def _steps(heading: str) -> set[str]:
    steps = re.findall(r"^\d\. .*\n(?: +.*\n)*", _section(heading), re.MULTILINE)
    return set(FILE.findall("".join(steps)))


SKIPPED = set(FILE.findall(_section("How a change is handled").partition("skip these files")[2]))


@pytest.mark.parametrize(
    ("heading", "function"),
    [("How a request is handled", "create_comment"), ("How a change is handled", "on_posts_changed")],
)
def test_the_steps_name_the_files_that_run(traced: dict[str, set[str]], heading: str, function: str) -> None:
    steps = _steps(heading)

    assert steps - traced[function] == set()
    # A change also needs files that the steps of a request name, such as the container's.
    named = _steps("How a request is handled") | set(FILE.findall(_section(heading))) | SKIPPED
    assert traced[function] - named == set()


def test_the_front_page_has_the_files_that_the_page_names(traced: dict[str, set[str]]) -> None:
    front_page = {"functions/feed.py", "shared/data/front_page.py", "shared/platform/data/pages.py"}

    assert front_page <= set(FILE.findall(_section("How a request is handled")))
    assert front_page <= traced["get_feed"]


def test_the_files_to_skip_run(traced: dict[str, set[str]]) -> None:
    assert len(SKIPPED) > 5
    assert SKIPPED - set[str]().union(*traced.values()) == set()
