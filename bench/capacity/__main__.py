"""Compute the tables of docs/scale.md: `python -m bench.capacity`.

`--write` updates docs/scale.md. Takes several minutes, mostly for the hot post.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Final

from bench.capacity.charge_measurement import measure
from bench.capacity.demand import Basis
from bench.capacity.hot_post_measurement import LIKE_METHODS, LikesTaken, take
from bench.capacity.report import basis_tables, size_tables
from bench.capacity.scale_page import with_tables
from bench.capacity.skew_report import hot_tables
from bench.capacity.timings import measure_timings
from bench.report import machine
from bench.servers import REPOSITORY
from shared.errors import DatabaseUnavailable

_PAGE: Final = REPOSITORY / "docs" / "scale.md"
_ATTEMPTS: Final = 3


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.capacity", description=__doc__)
    parser.add_argument("--write", action="store_true", help=f"write the tables to {_PAGE.relative_to(REPOSITORY)}")
    given = parser.parse_args(arguments)
    command = "python -m bench.capacity" + (" --write" if given.write else "")
    tables = asyncio.run(_tables(command))
    if given.write:
        _PAGE.write_text(with_tables(_PAGE.read_text(encoding="utf-8"), tables), encoding="utf-8")
    else:
        sys.stdout.write(tables)
    return 0


async def _tables(command: str) -> str:
    started = datetime.now(UTC)
    _say("charges")
    measured = await measure()
    _say("times")
    timings = await measure_timings()
    taken = [await _take(number) for number in range(len(LIKE_METHODS))]
    basis = Basis(measured, timings)
    circumstances = [f"    {command}", "", *(f"- {line}" for line in (f"{started:%Y-%m-%d %H:%M} UTC", *machine()))]
    sections = [circumstances, *size_tables(basis), *hot_tables(basis, taken), *basis_tables(basis)]
    return "\n\n".join("\n".join(section) for section in sections) + "\n"


async def _take(number: int) -> LikesTaken:
    """Measure one case; retry, because a batch can exceed its deadline on a busy machine."""
    _say(f"hot post: {LIKE_METHODS[number].name}")
    for _ in range(_ATTEMPTS - 1):
        try:
            return await take(LIKE_METHODS[number])
        except DatabaseUnavailable as error:
            _say(f"retrying: {error.reason}")
    return await take(LIKE_METHODS[number])


def _say(what: str) -> None:
    sys.stderr.write(f"measuring: {what}\n")


if __name__ == "__main__":
    sys.exit(main())
