"""Limits on computed values, so that a short query cannot exhaust memory."""

from __future__ import annotations

from cosmos_emulator.pacing import LARGE_BYTES, checkpoint, large_value
from cosmos_emulator.query.errors import evaluation_error
from cosmos_emulator.query.values import Json

MAX_TEXT = 2 * 1024 * 1024
"""Maximum characters of a computed string, equal to the item limit."""

MAX_ROW = 4 * 1024 * 1024
"""Maximum values plus string characters of a row, equal to the page limit in bytes."""


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
