"""docs/scale.md: hand-written text with generated tables between two markers."""

from __future__ import annotations

from typing import Final

BEGIN: Final = "<!-- tables: begin, written by python -m bench.capacity --write -->"
END: Final = "<!-- tables: end -->"


class MarkersMissingError(Exception):
    """The page lacks the markers for the tables."""


def with_tables(page: str, tables: str) -> str:
    """Replace the tables in the page. Raises MarkersMissingError."""
    before, begin, rest = page.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise MarkersMissingError(f"the page must contain the lines {BEGIN} and {END}")
    # Strip only newlines: leading spaces mark code.
    lines = tables.strip("\n")
    return f"{before}{BEGIN}\n\n{lines}\n\n{END}{after}"
