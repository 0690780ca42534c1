"""docs/scale.md: the words are written by hand, the tables stand between two markers and are replaced by a run."""

from __future__ import annotations

from typing import Final

BEGIN: Final = "<!-- tables: begin, written by python -m bench.capacity --write -->"
END: Final = "<!-- tables: end -->"


class MarkersMissingError(Exception):
    """The page has no place for the tables."""


def with_tables(page: str, tables: str) -> str:
    """The page with these tables in place of those it had. Raises MarkersMissingError."""
    before, begin, rest = page.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise MarkersMissingError(f"the page needs the lines {BEGIN} and {END}")
    # Lines alone: blanks at the beginning of the first make it a command.
    lines = tables.strip("\n")
    return f"{before}{BEGIN}\n\n{lines}\n\n{END}{after}"
