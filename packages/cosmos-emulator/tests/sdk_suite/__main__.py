"""Run Microsoft's tests of azure-cosmos against the emulator, and compare the outcomes with the expected failures.

    python -m tests.sdk_suite [--update] [FILE ...]

Downloads the suite of the locked version. Each file runs in a process of its own against an empty emulator. Fails on an
unexpected failure and on an unexpected pass. Both run again up to twice, as some tests race with the SDK's threads.
A test with another outcome then is only reported as flaky.
"""

from __future__ import annotations

import argparse
import re
import sys
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tests.sdk_suite import download, execution, expectations
from tests.sdk_suite.execution import Outcome

LOGS = download.CACHE / "logs"
_RERUNS = 2
_MARK = re.compile(
    "mark[.](cosmosEmulator|cosmosQuery|cosmosLong|cosmosSearchQuery|cosmosSplit|cosmosGSI)"  # as in inside/pytest.ini
)


def main() -> int:
    options = _options()
    suite = download.suite()
    files = options.files or _files(suite)
    missing = [name for name in files if not (suite / name).is_file()]
    if missing:
        raise SystemExit(f"The suite has no file {', '.join(missing)}; its folder is {suite}")
    LOGS.mkdir(parents=True, exist_ok=True)
    reasons = expectations.read_reasons()
    with ThreadPoolExecutor(options.workers) as workers:
        runs = list(workers.map(lambda name: _run(suite, name, reasons), files))
    outcomes = [outcome for first, _ in runs for outcome in first]
    reruns = [outcome for _, second in runs for outcome in second]
    result = expectations.compare(outcomes, reruns, expectations.of_files(reasons, files))
    sys.stdout.write(expectations.report(result, LOGS))
    if options.update:
        expectations.update(result, reasons)
    return 0 if result.is_as_expected else 1


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*", metavar="FILE", help="such as test_crud.py (default: all)")
    parser.add_argument("--workers", type=int, default=2, help="files that run at a time (default: %(default)s)")
    parser.add_argument("--update", action="store_true", help="rewrite the list of expected failures")
    return parser.parse_args()


def _files(suite: Path) -> list[str]:
    """Return the files with one of the marks."""
    marked = [path for path in suite.rglob("test_*.py") if _MARK.search(path.read_text("utf-8"))]
    return sorted(path.relative_to(suite).as_posix() for path in marked)


def _run(suite: Path, name: str, reasons: dict[str, str]) -> tuple[list[Outcome], list[Outcome]]:
    """Return the outcomes of a file, and of the last run of tests that surprised every time before."""
    start = time.monotonic()
    log = LOGS / f"{name.replace('/', '.')}.log"
    outcomes = execution.run(suite, [name], log)
    reruns = outcomes
    for number in range(1, _RERUNS + 1):
        surprising = [one.test for one in reruns if expectations.is_surprising(one, reasons)]
        reruns = execution.run(suite, surprising, log.with_suffix(f".rerun{number}.log")) if surprising else []
    counts = Counter(outcome.outcome for outcome in outcomes)
    summary = ", ".join(f"{count} {outcome}" for outcome, count in sorted(counts.items())) or "no tests"
    sys.stdout.write(f"{name}: {summary} ({time.monotonic() - start:.0f} s)\n")
    sys.stdout.flush()
    return outcomes, reruns


if __name__ == "__main__":
    sys.exit(main())
