"""Speed of the local stack against its targets: `python -m bench.local_stack [--only NAME]`.

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
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from bench.measures import blog, large_data, peer, scans
from bench.report import TargetResult, circumstances, target_lines
from bench.servers import REPOSITORY

_RESULTS: Final = REPOSITORY / "docs" / "benchmarks" / "local-stack.md"
_MEASURES: Final[dict[str, Callable[[Path], Awaitable[list[TargetResult]]]]] = {
    "peer": peer.measure,
    "comment": blog.measure_comments,
    "http": blog.measure_http,
    "large": large_data.measure,
    "scans": scans.measure,
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the results; return 1 if a target was missed."""
    parser = argparse.ArgumentParser(prog="python -m bench.local_stack", description=__doc__)
    parser.add_argument("--only", choices=_MEASURES, action="append", help="run only this measure (repeatable)")
    parser.add_argument("--write", action="store_true", help=f"write {_RESULTS.relative_to(REPOSITORY)}")
    given = parser.parse_args(arguments)
    started, load_before = datetime.now(UTC), os.getloadavg()[0]
    findings = asyncio.run(_run(given.only or list(_MEASURES)))
    lines = [
        "# Speed of the local stack",
        "",
        "For developers of the packages. "
        "Each ratio comes from one run on one machine, with the two sides taking turns. A client in a separate process"
        " sends one request at a time and measures its time, except for the queries by 64 clients.",
        "",
        f"    {shlex.join(['python', '-m', 'bench.local_stack', *(sys.argv[1:] if arguments is None else arguments)])}",
        "",
        *circumstances(started, load_before),
        "",
        *target_lines(findings),
    ]
    text = "\n".join(lines) + "\n"
    sys.stdout.write(text)
    if given.write:
        _RESULTS.write_text(text, encoding="utf-8")
    return int(not all(finding.met for finding in findings))


async def _run(names: Sequence[str]) -> list[TargetResult]:
    findings = []
    for name in names:
        sys.stderr.write(f"measuring: {name}\n")
        with tempfile.TemporaryDirectory(prefix="bench-") as directory:
            findings += await _MEASURES[name](Path(directory))
    return findings


if __name__ == "__main__":
    sys.exit(main())
