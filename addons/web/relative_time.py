"""Dates for readers, relative to now or in full, and how long a text takes."""

from __future__ import annotations

import re
from datetime import UTC, datetime

from shared.platform.models import parse_moment

_DAY = 24 * 3600
# Older dates are absolute: "12 months ago" says too little, and most posts would show it.
_MONTH = 30 * _DAY
# The length of each unit in seconds, longest first. addons/web/static/times.js uses the same table.
_UNITS = (
    ("week", 7 * _DAY),
    ("day", _DAY),
    ("hour", 3600),
    ("minute", 60),
)
# Chinese and Japanese characters: about two make a word.
_WITHOUT_SPACES = re.compile("[\u3040-\u30ff\u3400-\u9fff]")


def relative_time(date: str, now: datetime | None = None) -> str:
    """How long ago a date was, such as `2 hours ago`; after a month, the day, such as `22 November 2026` (UTC).

    Returns a date that it cannot parse unchanged.
    """
    try:
        moment = parse_moment(date)
    except ValueError:
        return date
    elapsed_s = ((now or datetime.now(UTC)) - moment).total_seconds()
    if elapsed_s >= _MONTH:
        return f"{moment.day} {moment:%B %Y}"
    for unit, seconds in _UNITS:
        count = int(elapsed_s // seconds)
        if count > 0:
            return f"{count} {unit}{'s' if count > 1 else ''} ago"
    return "just now"


def exact_time(date: str) -> str:
    """A date in full, such as `22 November 2026, 09:00:00 UTC`. Returns a date that it cannot parse unchanged."""
    try:
        moment = parse_moment(date)
    except ValueError:
        return date
    return f"{moment.day} {moment:%B %Y, %H:%M:%S} UTC"


def exact_day(date: str) -> str:
    """The day of a date, such as `22 November 2026` (UTC). Returns a date that it cannot parse unchanged."""
    return exact_time(date).partition(",")[0]


def minutes_to_read(text: str) -> int:
    """The minutes that reading takes, at least 1."""
    # Adults read 238 English words a minute: https://doi.org/10.1016/j.jml.2019.104047
    words = len(text.split()) + len(_WITHOUT_SPACES.findall(text)) / 2
    return max(1, round(words / 238))
