"""Speed of the local stack against its targets: `python -m bench.local_stack [--quick] [--only NAME]`.

`--write` updates docs/benchmarks/local-stack.md. Requires Node and `npm ci` in bench/peer, or `make bench-local`.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import shlex
import sys
import tempfile
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from bench.measures import comment_script, http_read, large_data, peer_requests, unindexed_filter
from bench.report import Conditions, TargetResult, markdown
from bench.servers import REPOSITORY
from bench.sizes import FULL, QUICK, Sizes

_RESULTS: Final = REPOSITORY / "docs" / "benchmarks" / "local-stack.md"
Measure = Callable[[Sizes, Path], Awaitable[list[TargetResult]]]
_MEASURES: Final[dict[str, Measure]] = {
    "peer": peer_requests.measure,
    "filter": unindexed_filter.measure,
    "comment": comment_script.measure,
    "http": http_read.measure,
    "large": large_data.measure,
}


@dataclass(frozen=True)
class Options:
    sizes: Sizes
    names: Sequence[str]
    write: bool


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the results; return 1 if a target was missed."""
    options = _parse(arguments)
    started, load_before = datetime.now(UTC), os.getloadavg()[0]
    findings = asyncio.run(_run(options))
    command = shlex.join(["python", "-m", "bench.local_stack", *(sys.argv[1:] if arguments is None else arguments)])
    text = markdown(findings, Conditions(command, started, load_before, os.getloadavg()[0]))
    sys.stdout.write(text)
    if options.write:
        _RESULTS.parent.mkdir(parents=True, exist_ok=True)
        _RESULTS.write_text(text, encoding="utf-8")
    return int(any(finding.met is False for finding in findings))


async def _run(options: Options) -> list[TargetResult]:
    findings = []
    for name in options.names:
        sys.stderr.write(f"measuring: {name}\n")
        with tempfile.TemporaryDirectory(prefix="bench-") as directory:
            findings += await _MEASURES[name](options.sizes, Path(directory))
    return findings


def _parse(arguments: Sequence[str] | None) -> Options:
    parser = argparse.ArgumentParser(prog="python -m bench.local_stack", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="use small sizes, for development")
    parser.add_argument("--only", choices=_MEASURES, action="append", help="run only this measure (repeatable)")
    parser.add_argument("--write", action="store_true", help=f"write {_RESULTS.relative_to(REPOSITORY)}")
    given = parser.parse_args(arguments)
    return Options(QUICK if given.quick else FULL, given.only or list(_MEASURES), given.write)


if __name__ == "__main__":
    sys.exit(main())
