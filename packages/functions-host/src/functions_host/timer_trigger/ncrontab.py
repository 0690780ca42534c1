"""NCRONTAB expressions: `{second} {minute} {hour} {day} {month} {day of week}`; seconds are optional.

Rules: azure-webjobs-sdk-extensions Timers/Scheduling/CronSchedule.cs and the NCrontab library. `L`, `W`, `#`, `?` and
`@daily` are invalid. A date must match both the day and the day of the week; 0 is Sunday.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, datetime, timedelta

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_DAYS = ("sun", "mon", "tue", "wed", "thu", "fri", "sat")
_PART = re.compile(r"(?P<low>\*|\w+)(?:-(?P<high>\w+))?(?:/(?P<step>\d+))?", re.ASCII)
# Leap years and weekdays repeat every 28 years, except around 2100.
_HORIZON = timedelta(days=366 * 40)


@dataclass(frozen=True)
class _Field:
    name: str
    low: int
    high: int
    names: tuple[str, ...] = ()


_FIELDS = (
    _Field("second", 0, 59),
    _Field("minute", 0, 59),
    _Field("hour", 0, 23),
    _Field("day", 1, 31),
    _Field("month", 1, 12, _MONTHS),
    _Field("day of week", 0, 6, _DAYS),
)


@dataclass(frozen=True)
class CronExpression:
    """The allowed values of each field, ascending."""

    seconds: tuple[int, ...]
    minutes: tuple[int, ...]
    hours: tuple[int, ...]
    days: frozenset[int]
    months: frozenset[int]
    weekdays: frozenset[int]

    @property
    def is_every_hour(self) -> bool:
        """Whether clock changes have no effect."""
        return len(self.hours) == 24

    def next_after(self, moment: datetime) -> datetime:
        """Return the first match after a local time. Raises ValueError if there is none."""
        floor = moment.replace(microsecond=0) + timedelta(seconds=1)
        for day in self._days_from(floor.date()):
            start = (
                floor
                if day == floor.date()
                else floor.replace(year=day.year, month=day.month, day=day.day, hour=0, minute=0, second=0)
            )
            if (found := self._within_day(start)) is not None:
                return found
        raise ValueError("the schedule has no occurrence")

    def _days_from(self, first: date) -> Iterator[date]:
        day = first
        while day - first < _HORIZON:
            if day.month in self.months and day.day in self.days and day.isoweekday() % 7 in self.weekdays:
                yield day
            day += timedelta(days=1)

    def _within_day(self, start: datetime) -> datetime | None:
        for hour in self.hours:
            for minute in self.minutes:
                if (hour, minute) < (start.hour, start.minute):
                    continue
                for second in self.seconds:
                    if (hour, minute, second) >= (start.hour, start.minute, start.second):
                        return start.replace(hour=hour, minute=minute, second=second)
        return None


def parse_cron(text: str) -> CronExpression:
    """Parse five or six fields. Raises ValueError."""
    parts = text.split()
    if len(parts) == 5:
        parts = ["0", *parts]
    if len(parts) != 6:
        raise ValueError(f"{text!r} must have five or six fields, not {len(parts)}")
    values = [_values(field, part) for field, part in zip(_FIELDS, parts, strict=True)]
    seconds, minutes, hours = (tuple(sorted(found)) for found in values[:3])
    days, months, weekdays = (frozenset(found) for found in values[3:])
    return CronExpression(seconds, minutes, hours, days, months, weekdays)


def _values(field: _Field, text: str) -> set[int]:
    return {value for part in text.split(",") for value in _range(field, part)}


def _range(field: _Field, text: str) -> range:
    found = _PART.fullmatch(text)
    if found is None or (found["low"] == "*" and found["high"]):
        raise ValueError(f"{field.name}: {text!r} must be a value, a range or a step")
    step = int(found["step"] or 1)
    if step < 1:
        raise ValueError(f"{field.name}: a step must be at least 1")
    if found["low"] == "*":
        return range(field.low, field.high + 1, step)
    low = _number(field, found["low"])
    # `5/10` starts at 5 and has no upper limit.
    default = field.high if found["step"] else low
    high = _number(field, found["high"]) if found["high"] else default
    return range(min(low, high), max(low, high) + 1, step)


def _number(field: _Field, text: str) -> int:
    if text.isdigit():
        number = int(text)
        if field.low <= number <= field.high:
            return number
    # NCrontab compares the first three letters, so `Mon` and `Monday` are equal.
    elif len(text) >= 3 and text[:3].lower() in field.names:
        return field.names.index(text[:3].lower()) + field.low
    raise ValueError(f"{field.name}: {text!r} must be between {field.low} and {field.high}")
