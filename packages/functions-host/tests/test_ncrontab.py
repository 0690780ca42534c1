"""NCRONTAB expressions."""

from __future__ import annotations

from datetime import datetime

import pytest
from functions_host.timer_trigger.ncrontab import parse_cron


@pytest.mark.parametrize(
    ("expression", "after", "expected"),
    [
        ("0 */5 * * * *", "2024-01-01T00:00:00", "2024-01-01T00:05:00"),
        ("*/5 * * * *", "2024-01-01T00:01:30", "2024-01-01T00:05:00"),
        ("0 0 * * * *", "2024-01-01T23:00:00", "2024-01-02T00:00:00"),
        ("30 9 8 * * Mon-Fri", "2024-01-05T08:09:30", "2024-01-08T08:09:30"),
        ("0 0 9 * * 0", "2024-01-01T00:00:00", "2024-01-07T09:00:00"),
        ("0 0 0 29 2 *", "2024-03-01T00:00:00", "2028-02-29T00:00:00"),
        ("0 0 0 13 * Friday", "2024-01-01T00:00:00", "2024-09-13T00:00:00"),
        ("0 0 0 1 Jan,jul *", "2024-01-01T00:00:00", "2024-07-01T00:00:00"),
        ("0 10/20 * * * *", "2024-01-01T00:30:00", "2024-01-01T00:50:00"),
        ("0 0 9-17/4 * * *", "2024-01-01T09:00:00", "2024-01-01T13:00:00"),
        ("*/1 * * * * *", "2024-12-31T23:59:59.5", "2025-01-01T00:00:00"),
        ("15,45 * * * * *", "2024-01-01T00:00:15", "2024-01-01T00:00:45"),
    ],
)
def test_next_after_returns_the_next_match(expression: str, after: str, expected: str) -> None:
    assert parse_cron(expression).next_after(datetime.fromisoformat(after)) == datetime.fromisoformat(expected)


@pytest.mark.parametrize(
    "expression",
    [
        *("", "* * *", "60 * * * * *", "* * * 0 * *", "* * * * 13 *", "* * * * * 7", "*/0 * * * * *"),
        *("@daily", "0 0 L * *", "a-b * * * * *", "*-5 * * * * *", "* * * * * * *"),
    ],
)
def test_an_invalid_expression_is_rejected(expression: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        parse_cron(expression)


def test_an_impossible_date_is_rejected() -> None:
    with pytest.raises(ValueError, match="no occurrence"):
        parse_cron("0 0 0 31 2 *").next_after(datetime(2024, 1, 1))  # noqa: DTZ001 - wall clock
