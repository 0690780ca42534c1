"""Query errors in the service's wording: 400 with an SC code and its location.

Codes and sentences follow Microsoft's planner (tests/query/test_query_plans.py) and the .NET SDK's
QueryPlanBaselineTests. Other errors use the closest code and name the rejected feature.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from cosmos_emulator.errors import CosmosError


@dataclass(frozen=True, slots=True)
class Location:
    """Character offsets in the query text; `end` is exclusive."""

    start: int
    end: int


class QueryError(CosmosError):
    """The errors of a query, whose message is the service's JSON document (azure-cosmos-dotnet-v2#507)."""

    def __init__(self, errors: list[dict[str, Any]]) -> None:
        document = json.dumps({"errors": errors}, separators=(",", ":"), ensure_ascii=False)
        super().__init__(400, document, is_document=True)
        self.errors = errors


def query_error(code: str, message: str, location: Location | None = None) -> QueryError:
    """Return one error."""
    error: dict[str, Any] = {"severity": "Error"}
    if location is not None:
        error["location"] = {"start": location.start, "end": location.end}
    return QueryError([error | {"code": code, "message": message}])


def together(raised: Iterable[QueryError], last: Location) -> QueryError:
    """Return all errors as one. As in the planner, errors in SELECT, at the location `last`, come at the end."""

    def is_last(error: dict[str, Any]) -> bool:
        start: int = error.get("location", {"start": -1})["start"]
        return last.start <= start < last.end

    return QueryError(sorted((error for each in raised for error in each.errors), key=is_last))


def syntax_error(near: str, location: Location) -> QueryError:
    """Return SC1001 for the text at a location, SC1002 for the end (azure-cosmos-dotnet-v3#1615)."""
    if not near:
        return query_error("SC1002", "Syntax error, unexpected end-of-file.", location)
    return query_error("SC1001", f"Syntax error, incorrect syntax near '{near}'.", location)


def not_supported(feature: str, location: Location | None = None) -> QueryError:
    """Return an error for an unsupported feature."""
    message = f"The specified query includes '{feature}' which is currently not supported."
    return query_error("SC2990", message, location)


def not_ordered() -> QueryError:
    """Return the error for an ORDER BY that no index can serve; its code is a number."""
    message = "Unsupported ORDER BY clause. ORDER BY item expression could not be mapped to a document path."
    return QueryError([{"severity": "Error", "code": 2206, "message": message}])


def evaluation_error(message: str) -> CosmosError:
    """Return an error of a computed row, without a location."""
    return CosmosError(400, message)
