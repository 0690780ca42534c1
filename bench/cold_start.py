"""Time of importing the app, compared with its libraries alone: `python -m bench.cold_start [--rounds 15]`.

Each import runs in a new process, and the two take turns. Times are processor times, which other load affects less than
wall-clock times.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Final

from bench.report import circumstances

_LIBRARIES: Final = "azure.functions, azure.cosmos.aio, azure.core.pipeline.transport._aiohttp, pydantic.main"
_APP: Final = "function_app"
_MEASURED: Final = "import time; start = time.process_time(); import {}; print(time.process_time() - start)"
_TARGET: Final = 1.3


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.cold_start", description=__doc__)
    parser.add_argument("--rounds", type=int, default=15, help="imports of each kind (default: 15)")
    rounds: int = parser.parse_args(arguments).rounds
    started = datetime.now(UTC)
    pairs = [(_import_s(_APP), _import_s(_LIBRARIES)) for _ in range(rounds)]
    app_s, libraries_s = (statistics.median(times) for times in zip(*pairs, strict=True))
    ratio = app_s / libraries_s
    lines = [
        *circumstances(started),
        "",
        f"Median of {rounds}: app {app_s * 1000:.0f} ms, libraries alone {libraries_s * 1000:.0f} ms.",
        f"Target, ratio at most {_TARGET:g}: {'met' if ratio <= _TARGET else 'missed'} ({ratio:.2f}).",
        "",
    ]
    sys.stdout.write("\n".join(lines))
    return int(ratio > _TARGET)


def _import_s(modules: str) -> float:
    command = [sys.executable, "-c", _MEASURED.format(modules)]
    return float(subprocess.run(command, check=True, capture_output=True, text=True).stdout)  # noqa: S603 - our own code


if __name__ == "__main__":
    sys.exit(main())
