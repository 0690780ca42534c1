"""Limits on computed values, so that a short query cannot exhaust memory."""

from __future__ import annotations

from typing import Final

from cosmos_emulator import json_text
from cosmos_emulator.query.errors import evaluation_error
from cosmos_emulator.query.values import UNDEFINED, Json, JsonOrUndefined
from cosmos_emulator.runtime.pacing import LARGE_BYTES, checkpoint, large_value

MAX_TEXT = 2 * 1024 * 1024
"""Maximum characters of a computed string, equal to the item limit."""

MAX_ROW = 4 * 1024 * 1024
"""Maximum values plus string characters of a row, equal to the page limit in bytes."""

MAX_KEPT: Final = 64 << 20
"""Maximum bytes, by estimate, of the rows or groups that a query keeps.

For MongoDB, the service allows 40 MB and gives this error (MicrosoftDocs/azure-docs#16997); for NoSQL, no limit is
published.
"""

_VALUE_BYTES: Final = 150  # with its place in a set
_PER_JSON_BYTE: Final = 4  # of parsed arrays and objects


class Memory:
    """About how many bytes the rows or groups of a query use."""

    def __init__(self) -> None:
        self.used_bytes = 0

    def keep(self, value: JsonOrUndefined, instead_of: JsonOrUndefined = UNDEFINED) -> None:
        """Count a value, and no longer another. Raises 400 if it is too much."""
        self.used_bytes += _bytes(value) - (0 if instead_of is UNDEFINED else _bytes(instead_of))
        if self.used_bytes > MAX_KEPT:
            raise evaluation_error(
                f"Query exceeded the maximum allowed memory usage of {MAX_KEPT >> 20} MB. DISTINCT and GROUP BY keep "
                "each row or group: please add filters, or query one partition key at a time."
            )


def _bytes(value: JsonOrUndefined) -> int:
    if type(value) is str:
        return _VALUE_BYTES + len(value)
    if type(value) is dict or type(value) is list:
        return _VALUE_BYTES + _PER_JSON_BYTE * len(json_text.dump(value))
    return _VALUE_BYTES


def check_text(length: int) -> None:
    """Raise 400 if a string would be too long, or MovesToWorker if it is long."""
    if length > MAX_TEXT:
        raise evaluation_error(f"A string in the query exceeds the maximum length of {MAX_TEXT} characters.")
    if length >= LARGE_BYTES:
        large_value()
        checkpoint()


def check_row(row: Json) -> None:
    """Raise 400 as soon as a row is too large."""
    size = 0
    pending: list[Json] = [row]
    while pending:
        value = pending.pop()
        size += 1
        if isinstance(value, str):
            size += len(value)
        elif isinstance(value, list):
            size += len(value)
            pending.extend(value if size <= MAX_ROW else ())
        elif isinstance(value, dict):
            size += sum(map(len, value))
            pending.extend(value.values())
        if size > MAX_ROW:
            raise evaluation_error("A row of the query exceeds the maximum size of a page.")
