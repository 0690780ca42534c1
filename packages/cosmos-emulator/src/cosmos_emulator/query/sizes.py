"""How large computed values may become: a short query could otherwise ask for more than any machine holds."""

from __future__ import annotations

from cosmos_emulator.query.errors import evaluation_error
from cosmos_emulator.query.values import Json

MAX_TEXT = 2 * 1024 * 1024
"""Longest string a function or operator makes, in characters: an item holds no more either."""

MAX_ROW = 4 * 1024 * 1024
"""Largest row, in values plus characters of strings: a page of the service holds no more bytes."""


def check_text(length: int) -> None:
    """Raises CosmosError 400 for a string that is too long, before it is made."""
    if length > MAX_TEXT:
        raise evaluation_error(f"A string in the query exceeds the maximum length of {MAX_TEXT} characters.")


def check_row(row: Json) -> None:
    """Raises CosmosError 400 for a row that is too large; stops looking as soon as it is."""
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
