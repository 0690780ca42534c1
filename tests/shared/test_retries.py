"""The limits in shared/retries.py and their documentation."""

from __future__ import annotations

from pathlib import Path

from shared import retries

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
