"""Timer schedules: an NCRONTAB expression or an interval.

Rules: azure-webjobs-sdk-extensions Timers/Scheduling/TimerSchedule.cs, CronSchedule.cs, ConstantSchedule.cs.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo
from typing import Protocol
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from ..app_settings import AppSettings
from ..errors import FunctionIndexError
from .ncrontab import CronExpression, parse_cron

_TIME_SPAN = re.compile(r"(?:(?P<d>\d+)\.)?(?P<h>\d{1,2}):(?P<m>\d{1,2}):(?P<s>\d{1,2})")


class Schedule(Protocol):
    """When a timer runs. All times have an offset."""

    def next_after(self, moment: datetime) -> datetime:
        """Return the next scheduled time."""


@dataclass(frozen=True)
class IntervalSchedule:
    """Runs once per interval."""

    interval: timedelta

    def next_after(self, moment: datetime) -> datetime:
        """Return `moment` plus the interval."""
        return moment + self.interval


@dataclass(frozen=True)
class CronSchedule:
    """An NCRONTAB expression in `zone`, or in the system's time zone."""

    expression: CronExpression
    zone: tzinfo | None

    def next_after(self, moment: datetime) -> datetime:
        """Return the next match.

        If every hour matches, clock changes have no effect. Otherwise the schedule follows the wall clock, and a time
        that occurs twice runs once.
        """
        local = moment.astimezone(self.zone)
        if self.expression.is_every_hour:
            offset = local.utcoffset()
            fixed = self.expression.next_after(local.replace(tzinfo=None))
            return (fixed - (offset or timedelta())).replace(tzinfo=UTC).astimezone(self.zone)
        wall = local.replace(tzinfo=None)
        while True:
            wall = self.expression.next_after(wall)
            found = wall.astimezone() if self.zone is None else wall.replace(tzinfo=self.zone)
            # In the second pass of the hour, the time of the first pass is in the past.
            if found.astimezone(UTC) > moment.astimezone(UTC):
                return found


def parse_schedule(text: str, settings: AppSettings) -> Schedule:
    """Parse a schedule. Raises FunctionIndexError."""
    expanded = settings.expand(text).strip()
    if span := _TIME_SPAN.fullmatch(expanded):
        return IntervalSchedule(_time_span(expanded, span))
    try:
        expression = parse_cron(expanded)
        expression.next_after(datetime.now(UTC).replace(tzinfo=None))
    except ValueError as error:
        raise FunctionIndexError(f"schedule {text!r} is invalid: {error}") from error
    return CronSchedule(expression, _zone(settings))


def _time_span(text: str, span: re.Match[str]) -> timedelta:
    days, hours, minutes, seconds = (int(span[name] or 0) for name in "dhms")
    if hours > 23 or minutes > 59 or seconds > 59:
        # .NET parses 24:00:00 as 24 days, which is rarely intended.
        raise FunctionIndexError(f"schedule {text!r} exceeds 23:59:59; write days as d.hh:mm:ss")
    interval = timedelta(days=days, hours=hours, minutes=minutes, seconds=seconds)
    if not interval:
        raise FunctionIndexError(f"schedule {text!r} must be longer than zero")
    return interval


def _zone(settings: AppSettings) -> tzinfo | None:
    name = settings.get("WEBSITE_TIME_ZONE")
    if not name:
        return None
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError) as error:
        raise FunctionIndexError(f"WEBSITE_TIME_ZONE: {name!r} is not a known time zone") from error
