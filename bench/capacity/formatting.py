"""Format numbers and Markdown tables."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import floor, log10


def number(value: float, digits: int = 3) -> str:
    """Format with thousands separators and significant digits."""
    if value == 0 or (float(value).is_integer() and abs(value) < 10**digits):
        return f"{value:.0f}"
    places = digits - 1 - floor(log10(abs(value)))
    rounded = round(value, places)
    return f"{rounded:,.{max(0, places)}f}" if places > 0 else f"{rounded:,.0f}"


def percent(share: float) -> str:
    """Format as `12%`, or `0.30%` if below one percent."""
    return f"{number(share * 100, 2)}%"


def people(count: float) -> str:
    """Format as `46 million`."""
    for size, name in ((1e9, " billion"), (1e6, " million")):
        if count >= size:
            return number(count / size, 2) + name
    return number(count, 2)


def duration(seconds: float) -> str:
    for size, name in ((365 * 86_400, "years"), (86_400, "days"), (3600, "hours"), (60, "minutes")):
        if seconds >= size:
            return f"{number(seconds / size, 2)} {name}"
    return f"{number(seconds, 2)} s"


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    return [_row(head), "|" + "---|" * len(head), *(_row(row) for row in rows)]


def _row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cells) + " |"
