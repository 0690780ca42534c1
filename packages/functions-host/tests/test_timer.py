"""Timers: schedules, startup, past-due calls, overlap, locking."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from aiohttp import ClientSession
from functions_host.app_settings import AppSettings
from functions_host.errors import FunctionIndexError
from functions_host.timer_trigger.monitor import TimerLock
from functions_host.timer_trigger.schedule import parse_schedule
from tests.running import app_module, eventually, running, write_app

BERLIN = ZoneInfo("Europe/Berlin")
HOURLY = "0 0 * * * *"
YEARLY = "0 0 0 1 1 *"


def timer(schedule: str, body: str = "", **options: object) -> str:
    arguments = "".join(f", {name}={value!r}" for name, value in options.items())
    return f"""
import asyncio
calls = []

@app.timer_trigger(arg_name="t", schedule={schedule!r}{arguments})
async def tick(t: func.TimerRequest):
    calls.append((t.past_due, t.schedule_status, t.schedule))
    {body}
"""


def state_of(app_dir: Path) -> Path:
    return app_dir / ".data" / "functions-host" / "timers" / "tick.json"


def remember(app_dir: Path, last: datetime, upcoming: datetime) -> None:
    path = state_of(app_dir)
    path.parent.mkdir(parents=True)
    times = {"Last": last, "Next": upcoming, "LastUpdated": last}
    path.write_text(json.dumps({name: moment.isoformat() for name, moment in times.items()}))


async def test_a_timer_below_one_minute_has_no_monitor(tmp_path: Path) -> None:
    app_dir = write_app(tmp_path, timer("%EVERY%"))
    async with running(app_dir, {"EVERY": "*/1 * * * * *"}):
        await eventually(lambda: len(app_module().calls) >= 2)
        calls = app_module().calls

    assert calls[0] == (False, {}, {"AdjustForDST": True})
    assert not state_of(app_dir).exists()


async def test_the_first_start_makes_no_call(tmp_path: Path) -> None:
    app_dir = write_app(tmp_path, timer(YEARLY))
    async with running(app_dir):
        await eventually(state_of(app_dir).exists)
        calls = app_module().calls

    assert calls == []
    assert json.loads(state_of(app_dir).read_text())["Last"].startswith("0001")


async def test_run_on_startup_calls_at_every_start(tmp_path: Path) -> None:
    app_dir = write_app(tmp_path, timer(YEARLY, run_on_startup=True))
    for _ in range(2):
        async with running(app_dir):
            await eventually(lambda: app_module().calls)
            calls = app_module().calls
        assert [call[0] for call in calls] == [False]


async def test_a_missed_time_is_called_once_as_past_due(tmp_path: Path) -> None:
    app_dir = write_app(tmp_path, timer(HOURLY, run_on_startup=True))
    hour = datetime.now(UTC).replace(minute=0, second=0, microsecond=0)
    remember(app_dir, hour - timedelta(hours=3), hour - timedelta(hours=2))

    async with running(app_dir):
        await eventually(lambda: app_module().calls)
        await eventually(lambda: json.loads(state_of(app_dir).read_text())["Next"] > hour.isoformat())
        calls = app_module().calls

    assert [call[0] for call in calls] == [True]
    assert set(calls[0][1]) == {"Last", "Next", "LastUpdated"}


async def test_a_changed_schedule_is_not_past_due(tmp_path: Path) -> None:
    app_dir = write_app(tmp_path, timer(YEARLY))
    now = datetime.now(UTC)
    remember(app_dir, now - timedelta(minutes=10), now - timedelta(minutes=5))

    async with running(app_dir):
        await eventually(state_of(app_dir).exists)
        calls = app_module().calls

    assert calls == []


async def test_calls_do_not_overlap_and_missed_ticks_cause_one_call(tmp_path: Path) -> None:
    body = "global inside\n    assert not inside\n    inside = True\n    await asyncio.sleep(1.5)\n    inside = False"
    app_dir = write_app(tmp_path, "inside = False\n" + timer("*/1 * * * * *", body))
    async with running(app_dir):
        await eventually(lambda: len(app_module().calls) >= 3)
        calls = app_module().calls

    assert {call[0] for call in calls} == {False}


async def test_the_schedule_continues_after_failed_retries(tmp_path: Path) -> None:
    source = timer("*/1 * * * * *", "raise RuntimeError('no')")
    source = source.replace("@app.timer", "@app.retry('fixed_delay', '2', delay_interval='00:00:00')\n@app.timer")
    app_dir = write_app(tmp_path, source)
    async with running(app_dir):
        await eventually(lambda: len(app_module().calls) >= 4)


async def test_only_one_host_per_state_directory_runs_a_timer(tmp_path: Path, http: ClientSession) -> None:
    app_dir = write_app(tmp_path, timer(YEARLY, run_on_startup=True))
    elsewhere = TimerLock(app_dir / ".data" / "functions-host", "tick")
    assert elsewhere.try_acquire()

    async with running(app_dir) as host:
        await host.ready()
        await http.get(f"{host.url}/admin/host/status")
        before = list(app_module().calls)
        elsewhere.release()
        await eventually(lambda: app_module().calls)

    assert before == []


def test_a_wall_clock_schedule_follows_a_clock_change() -> None:
    schedule = parse_schedule("0 30 9 * * *", AppSettings({"WEBSITE_TIME_ZONE": "Europe/Berlin"}))

    saturday = datetime(2024, 3, 30, 9, 30, tzinfo=BERLIN)
    assert schedule.next_after(saturday) == datetime(2024, 3, 31, 9, 30, tzinfo=BERLIN)


def test_a_repeated_hour_runs_fixed_times_once_and_intervals_throughout() -> None:
    settings = AppSettings({"WEBSITE_TIME_ZONE": "Europe/Berlin"})
    first = datetime(2024, 10, 27, 2, 30, fold=0, tzinfo=BERLIN)

    once = parse_schedule("0 30 2 * * *", settings).next_after(first)
    throughout = parse_schedule("0 */30 * * * *", settings).next_after(first)

    assert once == datetime(2024, 10, 28, 2, 30, tzinfo=BERLIN)
    assert throughout.astimezone(UTC) - first.astimezone(UTC) == timedelta(minutes=30)


@pytest.mark.parametrize(
    ("times", "expected"),
    [
        ("0 */10 0-5 * * *", datetime(2024, 10, 27, 3, 0, tzinfo=BERLIN)),
        ("0 30 2 * * *", datetime(2024, 10, 28, 2, 30, tzinfo=BERLIN)),
    ],
)
def test_a_timer_that_starts_in_the_second_pass_of_a_repeated_hour_waits(times: str, expected: datetime) -> None:
    schedule = parse_schedule(times, AppSettings({"WEBSITE_TIME_ZONE": "Europe/Berlin"}))
    second = datetime(2024, 10, 27, 2, 20, fold=1, tzinfo=BERLIN)

    assert schedule.next_after(second).astimezone(UTC) == expected.astimezone(UTC)


def test_a_time_span_is_a_fixed_interval() -> None:
    moment = datetime(2024, 1, 1, tzinfo=UTC)

    assert parse_schedule("01:30:00", AppSettings({})).next_after(moment) - moment == timedelta(minutes=90)
    assert parse_schedule("2.00:00:00", AppSettings({})).next_after(moment) - moment == timedelta(days=2)
    for wrong in ("24:00:00", "00:00:00"):
        with pytest.raises(FunctionIndexError):
            parse_schedule(wrong, AppSettings({}))
