"""The numbers of the retries and what the documentation says of them."""

from __future__ import annotations

from pathlib import Path

from shared import retries

DOCUMENT = Path(__file__).parents[2] / "docs" / "reliability.md"


def test_every_number_is_documented_with_its_value() -> None:
    text = DOCUMENT.read_text(encoding="utf-8")
    numbers = {name: value for name, value in vars(retries).items() if name.isupper()}

    missing = [name for name, value in numbers.items() if f"| `{name}` | {value} |" not in text]

    assert numbers
    assert missing == []


def test_a_throttled_request_ends_before_its_deadline() -> None:
    assert retries.THROTTLED_S < retries.REQUEST_DEADLINE_S
    assert retries.COMMIT_DEADLINE_S < retries.REQUEST_DEADLINE_S
