"""TOP, OFFSET and LIMIT."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import TypeVar

from cosmos_emulator.query.errors import not_supported, query_error
from cosmos_emulator.query.syntax import Count, Parameter, Query
from cosmos_emulator.query.values import Json, JsonOrUndefined

MAX_COUNT = 2**32 - 1
"""The planner adds OFFSET and LIMIT, up to this value (.NET QueryPlanBaselineTests.OffsetLimit.xml)."""

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class RowCounts:
    """The resolved counts; None without the clause."""

    top: int | None = None
    offset: int | None = None
    limit: int | None = None

    @property
    def skipped(self) -> int:
        """Return the number of rows to skip."""
        return self.offset or 0

    @property
    def taken(self) -> int | None:
        """Return the maximum number of rows, None if unlimited."""
        return self.top if self.limit is None else self.limit

    def apply(self, rows: Iterator[T]) -> Iterator[T]:
        """Skip and limit rows."""
        if self.skipped == 0 and self.taken is None:
            return rows
        return islice(rows, self.skipped, None if self.taken is None else self.skipped + self.taken)


def row_counts(query: Query, parameters: Mapping[str, Json]) -> RowCounts:
    """Resolve the counts. Raises 400 unless they are integers from 0 to 4294967295 (SC2060, SC2061, SC2062)."""
    if query.top is not None and query.offset is not None:
        raise not_supported("TOP together with OFFSET LIMIT", query.location)
    return RowCounts(
        _count(query.top, parameters, "TOP", "SC2060"),
        _count(query.offset, parameters, "OFFSET", "SC2062"),
        _count(query.limit, parameters, "LIMIT", "SC2061"),
    )


def _count(node: Count | None, parameters: Mapping[str, Json], clause: str, code: str) -> int | None:
    if node is None:
        return None
    value: JsonOrUndefined
    if isinstance(node, Parameter):
        if node.name not in parameters:
            raise query_error("SC2001", f"Parameter '{node.name}' is not declared.", node.location)
        value = parameters[node.name]
    else:
        value = node.value
    if type(value) is float and value.is_integer():
        value = int(value)
    if type(value) is not int or value < 0:
        message = f"The count value provided for a {clause} clause must be an integer."
        raise query_error(code, message, node.location)
    if value > MAX_COUNT:
        message = f"The {clause} count value exceeds the maximum allowed value."
        raise query_error(code, message, node.location)
    return value
