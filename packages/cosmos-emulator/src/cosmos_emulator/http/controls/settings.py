"""`/_emulator/settings`: read or change settings of a running emulator.

GET      {"latency": "10ms±5ms", "replicaLag": null, "throttle": false, "rbac": false, "lenientOrderBy": false}
PATCH    any of these properties, to change them
"""

from __future__ import annotations

from typing import Final

from cosmos_emulator import json_text
from cosmos_emulator.errors import CosmosError
from cosmos_emulator.json_text import Json
from cosmos_emulator.latency import Latency
from cosmos_emulator.messages.answer import Answer
from cosmos_emulator.settings import EmulatorSettings

_PATH: Final = "/_emulator/settings"
_DURATIONS: Final = {"latency": "latency", "replicaLag": "replica_lag"}
_SWITCHES: Final = {"throttle": "throttle", "rbac": "rbac", "lenientOrderBy": "lenient_order_by"}
FIELDS: Final = {**_DURATIONS, **_SWITCHES}


def answer_settings(settings: EmulatorSettings, method: str, body: bytes) -> Answer:
    """Return the settings, which a PATCH changes. Raises 400 if any is invalid; then none is changed."""
    if method not in ("GET", "PATCH"):
        raise CosmosError(405, f"The method {method} is not allowed on {_PATH}; use GET or PATCH.")
    if method == "PATCH":
        changes = {name: _parsed(name, value) for name, value in json_text.parse_object(body).items()}
        for name, value in changes.items():
            setattr(settings, FIELDS[name], value)
    current: dict[str, Json] = {}
    for name, field in FIELDS.items():
        value = getattr(settings, field)
        current[name] = str(value) if isinstance(value, Latency) else value
    return Answer(200, json_text.dump(current))


def _parsed(name: str, value: Json) -> Latency | bool | None:
    if name in _SWITCHES:
        if not isinstance(value, bool):
            raise CosmosError(400, f"{name} must be true or false, not {value!r}.")
        return value
    if name not in _DURATIONS:
        raise CosmosError(400, f"{name!r} is not a setting that can be changed; use {', '.join(FIELDS)}.")
    return _parsed_duration(name, value)


def _parsed_duration(name: str, value: Json) -> Latency | None:
    """Parse a duration, or null. Raises 400 that names the property."""
    if value is None:
        return None
    if not isinstance(value, str):
        raise CosmosError(400, f"{name} must be a duration such as 500ms±200ms, or null to switch it off.")
    try:
        return Latency.parse(value)
    except ValueError as error:
        raise CosmosError(400, f"{name} is invalid: {error}.") from error
