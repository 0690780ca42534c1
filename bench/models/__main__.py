"""Compare the costs of the article's three data models with this project's: `python -m bench.models`.

Runs all parts on the emulator, or those given with --only. --write updates their results in docs/benchmarks. With
--endpoint, measures the ten requests on that account in temporary databases.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import shlex
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from bench.models.parts import KINDS, PARTS, Options, measure_account_part
from bench.models.publishing import publish
from bench.models.results import RESULTS, Results, conditions, read_results
from bench.report import machine
from bench.servers import REPOSITORY
from bench.timing import BenchmarkError

_DIRECTORY: Final = REPOSITORY / "docs" / "benchmarks"
_QUICK: Final[dict[str, Any]] = {
    "users": 30,
    "repetitions": 10,
    "sizes": (10, 30),
    "burst": 250,
    "posts": 100,
    "renamed_posts": 100,
    "likes": (0, 1_000),
}


def main(arguments: Sequence[str] | None = None) -> int:
    given = sys.argv[1:] if arguments is None else arguments
    options = _parse(given)
    command = shlex.join(["python", "-m", "bench.models", *_without_key(given)])
    try:
        results = asyncio.run(_run(options, command))
    except BenchmarkError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    sys.stdout.write(publish(results, options.write))
    return 0


async def _run(options: Options, command: str) -> Results:
    results = read_results(options.write / RESULTS) if options.write else Results()
    parts = {"account": measure_account_part} if options.endpoint else {name: PARTS[name] for name in options.parts}
    for name, measure in parts.items():
        sys.stderr.write(f"measuring: {name}\n")
        started, load = datetime.now(UTC), os.getloadavg()[0]
        with tempfile.TemporaryDirectory(prefix="bench-models-", dir=options.directory) as directory:
            found = await measure(options, Path(directory))
        circumstances = [*machine(), f"load average before {load:.1f}"]
        setattr(results, name, found(conditions(command, started, circumstances)))
        publish(results, options.write)  # after each part: a full run takes up to an hour
    return results


def _without_key(arguments: Sequence[str]) -> list[str]:
    """Hide endpoint and key for publication."""
    hidden = ("--key", "--endpoint")
    shown = []
    for number, argument in enumerate(arguments):
        if number and arguments[number - 1] in hidden:
            shown.append("…")
        elif argument.startswith(tuple(f"{name}=" for name in hidden)):
            shown.append(argument.partition("=")[0] + "=…")
        else:
            shown.append(argument)
    return shown


def _parse(arguments: Sequence[str]) -> Options:
    parser = argparse.ArgumentParser(prog="python -m bench.models", description=__doc__, allow_abbrev=False)
    parser.add_argument("--only", choices=PARTS, action="append", help="measure only this part (repeatable)")
    parser.add_argument("--users", type=int, default=100, help="users in the ten requests (default: 100)")
    parser.add_argument("--seed", type=int, default=1, help="seed of the generated data (default: 1)")
    parser.add_argument("--repetitions", type=int, default=60, help="samples per timed request (default: 60)")
    parser.add_argument("--quick", action="store_true", help="use small sizes, for development")
    parser.add_argument(
        "--write", type=Path, nargs="?", const=_DIRECTORY, metavar="DIR", help="write the results to docs/benchmarks"
    )
    parser.add_argument("--directory", type=Path, help="directory for temporary data (several GB)")
    parser.add_argument("--endpoint", help="measure the ten requests on this account")
    parser.add_argument("--key", help="account key (default: the identity of the process)")
    parser.add_argument("--throughput", type=int, help="RU/s of each of the four databases created on the account")
    given = parser.parse_args(arguments)
    options = Options(
        parts=given.only or list(PARTS),
        users=given.users,
        seed=given.seed,
        repetitions=given.repetitions,
        write=given.write,
        directory=given.directory,
        endpoint=given.endpoint,
        key=given.key,
        throughput=given.throughput,
        kinds=KINDS,
    )
    return replace(options, **_QUICK) if given.quick else options


if __name__ == "__main__":
    sys.exit(main())
