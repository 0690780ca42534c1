"""Markdown tables, and the numbers in them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import floor, log10


def table(head: Sequence[str], rows: Iterable[Sequence[str]], *, words: int | None = None) -> list[str]:
    """Return the lines of a table. Columns after the first `words` are aligned as numbers (None: no column is)."""
    left = len(head) if words is None else words
    return [_row(head), "|" + "---|" * left + "---:|" * (len(head) - left), *map(_row, rows)]


def _row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def number(value: float, digits: int = 3) -> str:
    """Format with thousands separators and significant digits."""
    if value == 0 or (float(value).is_integer() and abs(value) < 10**digits):
        return f"{value:.0f}"
    places = digits - 1 - floor(log10(abs(value)))
    rounded = round(value, places)
    return f"{rounded:,.{max(0, places)}f}"


def percent(share: float) -> str:
    """Format as `12%`, or `0.30%` if below one percent."""
    return f"{number(share * 100, 2)}%"


def people(count: float) -> str:
    """Format as `46 million`."""
    for size, name in ((1e9, " billion"), (1e6, " million")):
        if count >= size:
            return number(count / size, 2) + name
    return number(count, 2)
