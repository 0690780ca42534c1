"""Date functions: ISO 8601 strings in UTC with seven decimals, and ticks of 100 ns since 1970.

They compute in integer ticks, because Python's datetime has only microseconds. Invalid dates and parts are undefined
(learn.microsoft.com/azure/cosmos-db/nosql/query/datetimeadd and related pages).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date
from typing import NamedTuple

from cosmos_emulator.query.functions.function import Evaluated, Function, table
from cosmos_emulator.query.values import UNDEFINED, JsonOrUndefined, Undefined, is_integral, is_number

_ISO = re.compile(r"(\d{4})-(\d\d)-(\d\d)(?:T(\d\d):(\d\d)(?::(\d\d)(?:\.(\d{1,7}))?)?Z?)?", re.ASCII)
# learn.microsoft.com/cosmos-db/query/is-datetime. The other functions do not accept a blank or a day with a Z.
_VALID = re.compile(r"(\d{4})-(\d\d)-(\d\d)(?:[T ](\d\d):(\d\d):(\d\d)(?:\.(\d{1,7}))?)?Z?", re.ASCII)
# An escaped character, or a specifier of DATETIMEFORMAT.
_SPECIFIER = re.compile(r"\\(.)|yyyy|MM|dd|HH|hh|mm|ss|f{1,7}|F{1,7}", re.DOTALL)
_EPOCH_DAY = date(1970, 1, 1).toordinal()
_LAST_DAY = date.max.toordinal()
_WINDOWS_EPOCH = (date(1601, 1, 1).toordinal() - _EPOCH_DAY) * 864_000_000_000

_SECOND = 10_000_000
_DAY = 86_400 * _SECOND
_TICKS = {
    "day": _DAY,
    "hour": 3600 * _SECOND,
    "minute": 60 * _SECOND,
    "second": _SECOND,
    "millisecond": _SECOND // 1000,
    "microsecond": _SECOND // 1_000_000,
}
_NANOSECONDS_IN_TICK = 100
_PART_NAMES = {
    "year": ("year", "yyyy", "yy"),
    "month": ("month", "mm", "m"),
    "day": ("day", "dd", "d"),
    "hour": ("hour", "hh"),
    "minute": ("minute", "mi", "n"),
    "second": ("second", "ss", "s"),
    "millisecond": ("millisecond", "ms"),
    "microsecond": ("microsecond", "mcs"),
    "nanosecond": ("nanosecond", "ns"),
}
_PARTS = {name: part for part, names in _PART_NAMES.items() for name in names}


class _Moment(NamedTuple):
    year: int
    month: int
    day: int
    hour: int = 0
    minute: int = 0
    second: int = 0
    fraction: int = 0

    def ticks(self) -> int:
        """Return ticks since 1970. Raises ValueError for an invalid date or time."""
        if not (0 <= self.hour < 24 and 0 <= self.minute < 60 and 0 <= self.second < 60):
            raise ValueError("no such time")
        if not 0 <= self.fraction < _SECOND:
            raise ValueError("no such fraction of a second")
        day = date(self.year, self.month, self.day).toordinal() - _EPOCH_DAY
        return day * _DAY + (self.hour * 3600 + self.minute * 60 + self.second) * _SECOND + self.fraction


def _moment(ticks: int) -> _Moment:
    """Split ticks. Raises ValueError outside the years 1 to 9999."""
    day, rest = divmod(ticks, _DAY)
    ordinal = day + _EPOCH_DAY
    if not 1 <= ordinal <= _LAST_DAY:
        raise ValueError("outside the calendar")
    on = date.fromordinal(ordinal)
    seconds, fraction = divmod(rest, _SECOND)
    return _Moment(on.year, on.month, on.day, seconds // 3600, seconds // 60 % 60, seconds % 60, fraction)


def _text(ticks: int) -> str:
    at = _moment(ticks)
    day = f"{at.year:04}-{at.month:02}-{at.day:02}"
    return f"{day}T{at.hour:02}:{at.minute:02}:{at.second:02}.{at.fraction:07}Z"


def _parsed(text: JsonOrUndefined, form: re.Pattern[str] = _ISO) -> int | None:
    match = form.fullmatch(text) if type(text) is str else None
    if match is None:
        return None
    year, month, day, hour, minute, second, fraction = match.groups(default="0")
    in_day = (int(hour), int(minute), int(second), int(fraction.ljust(7, "0")))
    try:
        return _Moment(int(year), int(month), int(day), *in_day).ticks()
    except ValueError:
        return None


def _part(name: JsonOrUndefined) -> str | None:
    return _PARTS.get(name.lower()) if type(name) is str else None


def _date_time_add(part: JsonOrUndefined, amount: JsonOrUndefined, moment: JsonOrUndefined) -> str | Undefined:
    """Move a date by whole parts; months clamp to the last day."""
    unit, ticks = _part(part), _parsed(moment)
    if unit is None or ticks is None or not is_integral(amount):
        return UNDEFINED
    try:
        return _text(_moved(ticks, unit, int(amount)))
    except (ValueError, OverflowError):
        return UNDEFINED


def _moved(ticks: int, unit: str, amount: int) -> int:
    if unit in _TICKS:
        return ticks + amount * _TICKS[unit]
    if unit == "nanosecond":
        return ticks + amount // _NANOSECONDS_IN_TICK
    at = _moment(ticks)
    months = at.year * 12 + at.month - 1 + amount * (12 if unit == "year" else 1)
    year, month = months // 12, months % 12 + 1
    return at._replace(year=year, month=month, day=min(at.day, _days_in(year, month))).ticks()


def _days_in(year: int, month: int) -> int:
    following = date(year + month // 12, month % 12 + 1, 1) if (year, month) != (9999, 12) else None
    return 31 if following is None else (following - date(year, month, 1)).days


def _date_time_diff(part: JsonOrUndefined, start: JsonOrUndefined, end: JsonOrUndefined) -> int | Undefined:
    unit, first, last = _part(part), _parsed(start), _parsed(end)
    if unit is None or first is None or last is None:
        return UNDEFINED
    return _count(last, unit) - _count(first, unit)


def _count(ticks: int, unit: str) -> int:
    if unit in _TICKS:
        return ticks // _TICKS[unit]
    if unit == "nanosecond":
        return ticks * _NANOSECONDS_IN_TICK
    at = _moment(ticks)
    return at.year if unit == "year" else at.year * 12 + at.month


def _date_time_part(part: JsonOrUndefined, moment: JsonOrUndefined) -> int | Undefined:
    """Return one part of a date; parts below a second count from it."""
    unit, ticks = _part(part), _parsed(moment)
    if unit is None or ticks is None:
        return UNDEFINED
    at = _moment(ticks)
    if unit == "nanosecond":
        return at.fraction * _NANOSECONDS_IN_TICK
    if unit in ("millisecond", "microsecond"):
        return at.fraction // _TICKS[unit]
    return int(getattr(at, unit))


def _date_time_from_parts(*parts: JsonOrUndefined) -> str | Undefined:
    numbers = [int(part) for part in parts if is_integral(part)]
    if len(numbers) != len(parts):
        return UNDEFINED
    try:
        return _text(_Moment(*numbers).ticks())
    except (ValueError, OverflowError):
        return UNDEFINED


def _date_time_bin(
    moment: JsonOrUndefined,
    part: JsonOrUndefined,
    size: JsonOrUndefined = 1,
    start: JsonOrUndefined = "1970-01-01T00:00:00.0000000Z",
) -> str | Undefined:
    """Round down to a multiple of `size` parts (days or smaller) since the start."""
    unit, ticks, origin = _part(part), _parsed(moment), _parsed(start)
    if unit is None or ticks is None or origin is None or not is_integral(size):
        return UNDEFINED
    if unit in ("year", "month") or size <= 0 or origin < _WINDOWS_EPOCH:
        return UNDEFINED
    width = int(size) * _TICKS[unit] if unit in _TICKS else max(int(size) // _NANOSECONDS_IN_TICK, 1)
    try:
        return _text(origin + (ticks - origin) // width * width)
    except ValueError:
        return UNDEFINED


def _date_time_to_ticks(moment: JsonOrUndefined) -> int | Undefined:
    ticks = _parsed(moment)
    return UNDEFINED if ticks is None else ticks


def _date_time_to_timestamp(moment: JsonOrUndefined) -> int | Undefined:
    ticks = _parsed(moment)
    return UNDEFINED if ticks is None else ticks // _TICKS["millisecond"]


def _ticks_to_date_time(ticks: JsonOrUndefined) -> str | Undefined:
    return _from_number(ticks, 1)


def _timestamp_to_date_time(milliseconds: JsonOrUndefined) -> str | Undefined:
    return _from_number(milliseconds, _TICKS["millisecond"])


def _from_number(value: JsonOrUndefined, ticks: int) -> str | Undefined:
    if not is_number(value):
        return UNDEFINED
    try:
        return _text(int(value * ticks))
    except (ValueError, OverflowError):
        return UNDEFINED


def _now(clock: Callable[[], float]) -> int:
    seconds, fraction = divmod(clock(), 1)
    return int(seconds) * _SECOND + int(fraction * _SECOND)


def _current_date_time(clock: Callable[[], float]) -> str:
    return _text(_now(clock))


def _current_timestamp(clock: Callable[[], float]) -> int:
    return _now(clock) // _TICKS["millisecond"]


def _moved_now(sign: int) -> Callable[..., str | Undefined]:
    """Make NOW or AGO: the present, moved forward or back by an amount of a part."""

    def call(clock: Callable[[], float], part: JsonOrUndefined = "s", amount: JsonOrUndefined = 0) -> str | Undefined:
        moved = sign * amount if is_integral(amount) else UNDEFINED
        return _date_time_add(part, moved, _current_date_time(clock))

    return call


def _part_of(part: str) -> Callable[..., int | Undefined]:
    return lambda moment: _date_time_part(part, moment)


def _is_date_time(value: JsonOrUndefined) -> bool:
    return _parsed(value, _VALID) is not None


def _date_time_format(moment: JsonOrUndefined, form: JsonOrUndefined) -> str | Undefined:
    ticks = _parsed(moment, _VALID)
    if ticks is None or type(form) is not str:
        return UNDEFINED
    at = _moment(ticks)
    parts = {
        "yyyy": f"{at.year:04}",
        "MM": f"{at.month:02}",
        "dd": f"{at.day:02}",
        "HH": f"{at.hour:02}",
        "hh": f"{(at.hour + 11) % 12 + 1:02}",
        "mm": f"{at.minute:02}",
        "ss": f"{at.second:02}",
    }

    def shown(match: re.Match[str]) -> str:
        specifier = match[0]
        if match[1] is not None:
            return match[1]
        if specifier in parts:
            return parts[specifier]
        digits = f"{at.fraction:07}"[: len(specifier)]
        return digits.rstrip("0") if specifier[0] == "F" else digits

    return _SPECIFIER.sub(shown, form)


DATE_FUNCTIONS = table(
    Function("AGO", _moved_now(-1), 2, 2, Evaluated.PER_ROW, reads_clock=True),
    Function("DATETIMEADD", _date_time_add, 3, 3),
    Function("DATETIMEBIN", _date_time_bin, 2, 4),
    Function("DATETIMEDIFF", _date_time_diff, 3, 3),
    Function("DATETIMEFORMAT", _date_time_format, 2, 2),
    Function("DATETIMEFROMPARTS", _date_time_from_parts, 3, 7),
    Function("DATETIMEPART", _date_time_part, 2, 2),
    Function("DATETIMETOTICKS", _date_time_to_ticks, 1, 1),
    Function("DATETIMETOTIMESTAMP", _date_time_to_timestamp, 1, 1),
    Function("DAY", _part_of("day"), 1, 1),
    Function("GETCURRENTDATETIME", _current_date_time, 0, 0, Evaluated.PER_ROW, reads_clock=True),
    Function("GETCURRENTDATETIMESTATIC", _current_date_time, 0, 0, Evaluated.PER_QUERY, reads_clock=True),
    Function("GETCURRENTTICKS", _now, 0, 0, Evaluated.PER_ROW, reads_clock=True),
    Function("GETCURRENTTICKSSTATIC", _now, 0, 0, Evaluated.PER_QUERY, reads_clock=True),
    Function("GETCURRENTTIMESTAMP", _current_timestamp, 0, 0, Evaluated.PER_ROW, reads_clock=True),
    Function("GETCURRENTTIMESTAMPSTATIC", _current_timestamp, 0, 0, Evaluated.PER_QUERY, reads_clock=True),
    Function("IS_DATETIME", _is_date_time, 1, 1),
    Function("MONTH", _part_of("month"), 1, 1),
    Function("NOW", _moved_now(1), 0, 2, Evaluated.PER_ROW, reads_clock=True),
    Function("TICKSTODATETIME", _ticks_to_date_time, 1, 1),
    Function("TIMESTAMPTODATETIME", _timestamp_to_date_time, 1, 1),
    Function("YEAR", _part_of("year"), 1, 1),
)
