"""Changes texts that look like dates, as the real host does unless host.json sets `dateParseHandling` to None.

Its SDK parses changes with Newtonsoft.Json, which turns such a text into a DateTime. The extension writes it in its own
format. If the date does not exist, the parser fails. The real host then releases the lease, and reads the same page
again after the next acquisition, without end.

Rules: Newtonsoft.Json Utilities/DateTimeUtils.cs (TryParseDateTime, WriteDateTimeString), Utilities/DateTimeParser.cs
and Utilities/ConvertUtils.cs (Int64TryParse), with the default settings. The local time zone is UTC, as in Azure.
"""

from __future__ import annotations

import re
from datetime import date
from typing import Any

_TICKS_PER_SECOND = 10_000_000
_TICKS_PER_DAY = 86_400 * _TICKS_PER_SECOND
_MOST_TICKS = date.max.toordinal() * _TICKS_PER_DAY - 1
_TICKS_OF_1970 = (date(1970, 1, 1).toordinal() - 1) * _TICKS_PER_DAY
_UNSPECIFIED, _UTC, _LOCAL = "", "Z", "+00:00"

# After seven digits of a fraction, the parser goes on with the zone. It takes `:mm` and `mm` without a sign, too.
_ISO = re.compile(
    r"(?P<year>[0-9]{4})-(?P<month>[0-9]{2})-(?P<day>[0-9]{2})"
    r"T(?P<hour>[0-9]{2}):(?P<minute>[0-9]{2}):(?P<second>[0-9]{2})(?:\.(?P<fraction>[0-9]{1,7}+))?"
    r"(?:(?P<utc>[Zz])|(?P<sign>[+-])(?P<zone_hour>[0-9]{2})(?::?(?P<zone_minute>[0-9]{2})|:)?|:?[0-9]{2}|:)?"
)
_ISO_LENGTH = range(19, 41)
# The offset makes the date a local one. Its value does not matter, and what follows its hours is read only at the start
# of the reader's buffer (DateTimeUtils.TryReadOffset compares a length with a position in it).
_OFFSET = r"(?P<offset>\+(?:[0-9]{2}|-[0-9]).*|-(?:[0-9]{2}|-[0-9])[^+]*)"
_MICROSOFT = re.compile(rf"/Date\((?P<number>-?[0-9]{{1,19}}){_OFFSET}?\)/", re.DOTALL)


class UnparsableChangesError(Exception):
    """A text in a page of changes looks like a date that does not exist."""


def parsed(value: Any) -> Any:
    """Return a JSON value as the real host delivers it. Raises UnparsableChangesError."""
    if isinstance(value, str):
        return _parsed_text(value)
    if isinstance(value, list):
        return [parsed(part) for part in value]
    if isinstance(value, dict):
        return {name: parsed(part) for name, part in value.items()}
    return value


def _parsed_text(text: str) -> str:
    if text.startswith("/"):
        match = _MICROSOFT.fullmatch(text)
        return text if match is None else _of_number(text, match)
    match = _ISO.fullmatch(text) if len(text) in _ISO_LENGTH else None
    return text if match is None else _of_iso(text, match)


def _of_number(text: str, match: re.Match[str]) -> str:
    milliseconds = int(match["number"])
    if not -(2**63) <= milliseconds < 2**63:
        return text
    # In C#, 64-bit integers wrap around.
    ticks = (milliseconds * 10_000 + _TICKS_OF_1970 + 2**63) % 2**64 - 2**63
    return _written(text, ticks, _LOCAL if match["offset"] else _UTC)


def _of_iso(text: str, match: re.Match[str]) -> str:
    year, month, day, hour, minute, second = map(int, match.group("year", "month", "day", "hour", "minute", "second"))
    fraction = int((match["fraction"] or "").ljust(7, "0"))
    within_day = (hour * 3600 + minute * 60 + second) * _TICKS_PER_SECOND + fraction
    try:
        first = date(year, month, day)
    except ValueError:
        return text
    if hour > 24 or minute > 59 or second > 59 or within_day > _TICKS_PER_DAY:
        return text
    ticks = (first.toordinal() - 1) * _TICKS_PER_DAY + within_day
    if match["sign"] is None or ticks > _MOST_TICKS:
        return _written(text, ticks, _UTC if match["utc"] else _UNSPECIFIED)
    offset = (int(match["zone_hour"]) * 60 + int(match["zone_minute"] or 0)) * 60 * _TICKS_PER_SECOND
    ticks += offset if match["sign"] == "-" else -offset
    return _written(text, min(max(ticks, 0), _MOST_TICKS), _LOCAL)


def _written(text: str, ticks: int, zone: str) -> str:
    if not 0 <= ticks <= _MOST_TICKS:
        raise UnparsableChangesError(
            f"Ticks must be between DateTime.MinValue.Ticks and DateTime.MaxValue.Ticks: {text}"
        )
    days, within_day = divmod(ticks, _TICKS_PER_DAY)
    seconds, fraction = divmod(within_day, _TICKS_PER_SECOND)
    time = f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}"
    digits = f".{fraction:07}".rstrip("0").rstrip(".")
    return f"{date.fromordinal(days + 1).isoformat()}T{time}{digits}{zone}"
