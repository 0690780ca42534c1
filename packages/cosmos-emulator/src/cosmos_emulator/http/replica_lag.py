"""`/_emulator/replica-lag`: read or change the replica lag of a running emulator.

GET    {"replicaLag": "500ms±200ms"}, or null if it is off
PUT    the same, to change it
"""

from __future__ import annotations

from typing import Final

from cosmos_emulator import json_text
from cosmos_emulator.errors import CosmosError
from cosmos_emulator.http.live_settings import parsed_duration
from cosmos_emulator.messages.answer import Answer
from cosmos_emulator.settings import EmulatorSettings

REPLICA_LAG: Final = "/_emulator/replica-lag"
_PROPERTY: Final = "replicaLag"


def administer_replica_lag(settings: EmulatorSettings, method: str, body: bytes) -> Answer:
    """Return the lag, which a PUT changes. Raises 400 if it is invalid."""
    if method not in ("GET", "PUT"):
        raise CosmosError(405, f"The method {method} is not allowed on {REPLICA_LAG}.")
    if method == "PUT":
        match json_text.parse(body):
            case {"replicaLag": lag_or_null}:
                settings.replica_lag = parsed_duration(_PROPERTY, lag_or_null)
            case _:
                raise CosmosError(400, f'The body must be {{"{_PROPERTY}": "500ms"}}, or null to switch the lag off.')
    lag = settings.replica_lag
    return Answer(200, json_text.dump({_PROPERTY: None if lag is None else str(lag)}))
