"""Times as readers see them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from addons.web.relative_time import exact_time, relative_time
from shared.platform.models import iso_utc

NOW = datetime(2026, 11, 22, 9, tzinfo=UTC)


@pytest.mark.parametrize(
    ("elapsed", "text"),
    [
        (timedelta(seconds=-5), "just now"),
        (timedelta(seconds=59), "just now"),
        (timedelta(seconds=60), "1 minute ago"),
        (timedelta(minutes=59, seconds=59), "59 minutes ago"),
        (timedelta(hours=2), "2 hours ago"),
        (timedelta(days=1), "1 day ago"),
        (timedelta(days=13), "1 week ago"),
        (timedelta(days=29, hours=23), "4 weeks ago"),
        (timedelta(days=30), "23 October 2026"),
        (timedelta(days=364), "23 November 2025"),
        (timedelta(days=800), "13 September 2024"),
    ],
)
def test_a_time_is_shown_relative_to_now(elapsed: timedelta, text: str) -> None:
    assert relative_time(iso_utc(NOW - elapsed), NOW) == text


def test_the_exact_time_is_in_utc() -> None:
    assert exact_time("2026-11-22T10:00:00+01:00") == "22 November 2026, 09:00:00 UTC"


def test_a_date_that_has_no_utc_form_is_shown_unchanged() -> None:
    date = "0001-01-01T00:00:00+01:00"

    assert (relative_time(date, NOW), exact_time(date)) == (date, date)


@pytest.mark.parametrize("date", ["", "yesterday", "2026-13-01"])
def test_a_date_in_an_unknown_format_is_shown_unchanged(date: str) -> None:
    assert (relative_time(date, NOW), exact_time(date)) == (date, date)
