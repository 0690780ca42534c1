"""What is wrong with a query, as the service says it: status 400 and an SC code with its place in the text.

The codes and sentences are those recorded in the .NET SDK's QueryPlanBaselineTests; where none is recorded
for a refusal, the closest one is used and the sentence says what is refused.
"""

from __future__ import annotations

import json
from dataclasses import dataclass

from cosmos_emulator.errors import CosmosError


@dataclass(frozen=True, slots=True)
class Location:
    """A stretch of the query's text: offsets of characters, `end` exclusive."""

    start: int
    end: int


def query_error(code: str, message: str, location: Location | None = None) -> CosmosError:
    """A refusal of the query. The message of the error is the JSON document that the service embeds."""
    error: dict[str, object] = {"severity": "Error"}
    if location is not None:
        error["location"] = {"start": location.start, "end": location.end}
    error |= {"code": code, "message": message}
    return CosmosError(400, json.dumps({"errors": [error]}, separators=(",", ":"), ensure_ascii=False))


def syntax_error(near: str, location: Location) -> CosmosError:
    return query_error("SC1001", f"Syntax error, incorrect syntax near '{near}'.", location)


def not_supported(feature: str, location: Location | None = None) -> CosmosError:
    """Refuses something that the service (or this emulator) does not do; `feature` names it."""
    message = f"The specified query includes '{feature}' which is currently not supported."
    return query_error("SC2990", message, location)


def evaluation_error(message: str) -> CosmosError:
    """A failure that shows only while rows are computed; it has no place in the text."""
    return CosmosError(400, json.dumps({"Errors": [message]}, separators=(",", ":"), ensure_ascii=False))
