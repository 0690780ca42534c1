"""The limits in shared/retries.py and their documentation."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from shared import retries
from shared.errors import DatabaseUnavailable
from tests.blog import Blog
from tests.items import a_post, a_user

DOCUMENT = Path(__file__).parents[2] / "docs" / "reliability.md"


def test_every_limit_is_documented_with_its_value() -> None:
    text = DOCUMENT.read_text(encoding="utf-8")
    limits = {name: value for name, value in vars(retries).items() if name.isupper()}

    missing = [name for name, value in limits.items() if f"| `{name}` | {value} |" not in text]

    assert limits
    assert missing == []


def test_shared_work_ends_before_the_deadline_of_its_requests() -> None:
    assert retries.COMMIT_DEADLINE_S < retries.REQUEST_DEADLINE_S
    assert retries.FRONT_PAGE_DEADLINE_S < retries.REQUEST_DEADLINE_S


async def test_conflicts_are_waited_for_only_before_a_retry(blog: Blog, monkeypatch: pytest.MonkeyPatch) -> None:
    waits: list[float] = []

    def longest(_: float, most: float) -> float:
        waits.append(most)
        return most

    monkeypatch.setattr(random, "uniform", longest)

    with blog.emulator.faults.during("449") as conflicts, pytest.raises(DatabaseUnavailable):
        await blog.posts.create(a_post(a_user()))

    assert conflicts.struck == retries.CONFLICT_RETRIES + 1
    assert waits == [retries.CONFLICT_WAIT_S * 2**number for number in range(retries.CONFLICT_RETRIES)]
