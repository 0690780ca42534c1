"""Compare this project's data model with the article's models and with indexes: `python -m bench.models`.

Runs all parts on the emulator, or those given with --only. --write updates their results in docs/benchmarks.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import shlex
import sys
import tempfile
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from bench.models.parts import PARTS, Options
from bench.models.report import publish
from bench.models.results import RESULTS, PartConditions, Results, read_results
from bench.report import machine
from bench.servers import REPOSITORY
from bench.timing import BenchmarkError

_DIRECTORY: Final = REPOSITORY / "docs" / "benchmarks"


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.models", description=__doc__, allow_abbrev=False)
    parser.add_argument("--only", choices=PARTS, action="append", help="measure only this part (repeatable)")
    parser.add_argument("--users", type=int, default=100, help="users in the ten requests (default: 100)")
    parser.add_argument("--repetitions", type=int, default=60, help="samples per timed request (default: 60)")
    parser.add_argument(
        "--write", type=Path, nargs="?", const=_DIRECTORY, metavar="DIR", help="write the results to docs/benchmarks"
    )
    given = parser.parse_args(arguments)
    options = Options(given.users, given.repetitions)
    command = shlex.join(["python", "-m", "bench.models", *(sys.argv[1:] if arguments is None else arguments)])
    try:
        results = asyncio.run(_run(options, given.only or list(PARTS), given.write, command))
    except BenchmarkError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    sys.stdout.write(publish(results, given.write))
    return 0


async def _run(options: Options, parts: Sequence[str], write: Path | None, command: str) -> Results:
    results = read_results(write / RESULTS) if write else Results()
    for name in parts:
        sys.stderr.write(f"measuring: {name}\n")
        started, load = datetime.now(UTC), os.getloadavg()[0]
        with tempfile.TemporaryDirectory(prefix="bench-models-") as directory:
            found = await PARTS[name](options, Path(directory))
        minutes = round((datetime.now(UTC) - started).total_seconds() / 60, 1)
        circumstances = [*machine(), f"load average before {load:.1f}"]
        setattr(results, name, found(PartConditions(command, started, minutes, circumstances)))
        publish(results, write)  # after each part: a full run takes up to an hour
    return results


if __name__ == "__main__":
    sys.exit(main())
