"""`/_emulator/faults`: manage the faults of a running emulator.

GET     list faults and counts    {"faults": [{"id": 1, "fault": 429, …, "matched": 3, "struck": 2, …}]}
POST    add a fault               {"fault": 429, "operation": "create", "times": 2}
PUT     replace all faults        [{…}, {…}]
DELETE  remove all faults, or one with /{id}
"""

from __future__ import annotations

from typing import Final

from cosmos_emulator import json_text
from cosmos_emulator.errors import CosmosError
from cosmos_emulator.faults.faults import Faults
from cosmos_emulator.faults.rule import FaultRule, parse_rule
from cosmos_emulator.json_text import Json
from cosmos_emulator.messages.answer import Answer

_PATH: Final = "/_emulator/faults"


def answer_faults(faults: Faults, method: str, raw_path: str, body: bytes) -> Answer:
    """Apply a change and return the faults. Raises 400 for an invalid rule."""
    path, _, number = raw_path.partition("?")[0].rstrip("/").removeprefix(_PATH).partition("/")
    if path or not raw_path.startswith(_PATH):
        raise CosmosError(404, "This path is unknown; see the test controls in docs/testing.md.")
    if number:
        return _one(faults, method, number)
    match method:
        case "GET":
            pass
        case "POST":
            return Answer(201, json_text.dump(faults.add(_rule(json_text.parse(body))).as_json()))
        case "PUT":
            _replace(faults, json_text.parse(body))
        case "DELETE":
            faults.clear()
        case _:
            raise CosmosError(405, f"The method {method} is not allowed on {_PATH}.")
    return Answer(200, json_text.dump({"faults": [fault.as_json() for fault in faults]}))


def _one(faults: Faults, method: str, number: str) -> Answer:
    found = next((fault for fault in faults if str(fault.number) == number), None)
    if found is None:
        raise CosmosError(404, f"The fault {number} does not exist.")
    if method not in ("GET", "DELETE"):
        raise CosmosError(405, f"The method {method} is not allowed on a fault.")
    if method == "DELETE":
        faults.remove(found)
    return Answer(200, json_text.dump(found.as_json()))


def _replace(faults: Faults, value: Json) -> None:
    if not isinstance(value, list):
        raise CosmosError(400, "The body must be a JSON array of faults.")
    rules = [_rule(one) for one in value]
    faults.clear()
    for rule in rules:
        faults.add(rule)


def _rule(value: Json) -> FaultRule:
    if not isinstance(value, dict):
        raise CosmosError(400, "A fault must be a JSON object.")
    try:
        return parse_rule(value)
    except ValueError as error:
        raise CosmosError(400, f"The fault is invalid: {error}.") from error
