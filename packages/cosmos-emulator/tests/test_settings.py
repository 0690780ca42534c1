"""Invalid settings are rejected where they are set."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from cosmos_emulator import AdjustableClock, CosmosEmulator, EmulatorSettings, Latency
from cosmos_emulator.http.controls.settings import FIELDS as CHANGED_OVER_HTTP
from cosmos_emulator.settings import FIXED


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("consistency", "session", "consistency must be one of 'Eventual', .*'Strong', not 'session'"),
        ("partitions", -3, "partitions must be at least 1, not -3"),
        ("partitions", "4", "partitions must be int"),
        ("partitions", True, "partitions must be int"),
        ("replica_lag", 500, r"replica_lag must be a Latency, such as Latency.parse\('500ms'\)"),
        ("latency", "10ms", "latency must be a Latency"),
        ("charge_profile", "2026", "charge_profile must be one of"),
        ("script_edition", "2016", "script_edition must be one of"),
        ("continuous_backup_days", 8, "continuous_backup_days must be one of None, 7, 30"),
        ("throttle", 1, "throttle must be bool"),
        ("key", "secret!", "key must be base64"),
        ("management_key", "é", "management_key must be base64"),
        ("script_operations", -1, "script_operations must be at least 0"),
        ("script_time_limit_s", "5", "script_time_limit_s must be float"),
        ("port", -1, "port must be at least 0"),
    ],
)
def test_an_invalid_setting_is_rejected(name: str, value: Any, message: str) -> None:
    settings = EmulatorSettings()

    with pytest.raises((TypeError, ValueError), match=message):
        EmulatorSettings(**{name: value})
    with pytest.raises((TypeError, ValueError), match=message):
        replace(settings, **{name: value})
    with pytest.raises((TypeError, ValueError), match=message):
        setattr(settings, name, value)
    assert getattr(settings, name) == getattr(EmulatorSettings(), name)


async def test_a_setting_that_has_an_effect_only_at_the_start_is_rejected_later() -> None:
    settings = EmulatorSettings(port=0)
    settings.partitions = 2

    async with CosmosEmulator(settings):
        for name in FIXED:
            with pytest.raises(AttributeError, match=f"{name} cannot change while the emulator runs; .*partitions, "):
                setattr(settings, name, getattr(settings, name))
        settings.partitions = 3
        copy = replace(settings, port=1)

    settings.port = 2
    assert (settings.partitions, settings.port, copy.port) == (3, 2, 1)
    assert {"port", "tls", "data_dir", "key"} < set(FIXED)
    assert {"partitions", "check_signatures", "clock", *CHANGED_OVER_HTTP.values()}.isdisjoint(FIXED)


def test_an_unknown_setting_is_rejected() -> None:
    with pytest.raises(AttributeError, match="replica_lagg"):
        EmulatorSettings().replica_lagg = Latency.parse("1s")  # type: ignore[attr-defined]


def test_valid_settings_are_kept() -> None:
    settings = EmulatorSettings(consistency="Strong", latency=Latency.parse("3s"), script_time_limit_s=2)
    settings.replica_lag = Latency(0.5)

    assert (settings.replica_lag.mean_s, settings.script_time_limit_s) == (0.5, 2)


def test_the_clock_takes_times_and_durations_of_datetime() -> None:
    clock = AdjustableClock()

    clock.freeze(datetime(2026, 1, 1, tzinfo=UTC))
    clock.advance(timedelta(hours=1))

    assert clock() == datetime(2026, 1, 1, 1, tzinfo=UTC).timestamp()
    with pytest.raises(ValueError, match="time zone"):
        clock.freeze(datetime(2026, 1, 1))  # noqa: DTZ001 - the case under test
    with pytest.raises(ValueError, match="advance"):
        clock.advance(timedelta(hours=-1))
