"""Run the tests of the JavaScript SDK against the emulator, and compare the outcomes with the expected failures.

    python -m tests.javascript_suite [--update] [FILE ...]

COSMOS_JAVASCRIPT_TESTS names the folder sdk/cosmosdb/cosmos of a checkout of azure-sdk-for-js, with compiled tests.
They must be tests for Mocha, as in version 4.0.1 (commit 60905e6); newer ones are for Vitest. To compile them there:

    npm pkg delete devDependencies.@azure/dev-tool devDependencies.@azure/eslint-plugin-azure-sdk  (not published)
    npm install --ignore-scripts
    npx tsc -p . --module commonjs --outDir compiled --composite false --declaration false --declarationMap false

Each file runs in a process of its own against an empty emulator. Fails on an unexpected failure and on an unexpected
pass. Files with one of them run again, as some tests compare durations. A test with another outcome then is only
reported as flaky.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from cosmos_emulator import WELL_KNOWN_KEY
from tests.processes import running_emulator
from tests.sdk_suite import expectations
from tests.sdk_suite.execution import Outcome

ROOT = Path(__file__).resolve().parents[4]
LOGS = ROOT / ".data" / "javascript-suite"
LIST = Path(__file__).with_name("expected_failures.json")
# The unit tests use no account, and this file uses one at https://localhost:8081.
_LEFT_OUT = re.compile("internal/unit/|public/integration/sslVerification.spec.js")
_SIGNS_IN = "fails to read databases with bad AAD authentication"  # depends on Microsoft Entra ID
TIMEOUT_S = 600.0
_UNFINISHED = "::the file"  # the failure of a file that did not finish, none of whose tests has an outcome


def main() -> int:
    options = _options()
    suite = Path(os.environ.get("COSMOS_JAVASCRIPT_TESTS", ""))
    tests = suite / "compiled/test"
    if not (suite / "node_modules/mocha").is_dir() or not tests.is_dir():
        raise SystemExit(f"{suite} is not the compiled suite. Set COSMOS_JAVASCRIPT_TESTS to its folder.")
    found = sorted(path.relative_to(tests).as_posix() for path in tests.rglob("*.spec.js"))
    files = options.files or [file for file in found if not _LEFT_OUT.match(file)]
    reasons = expectations.read_reasons(LIST)
    outcomes = _run(suite, files, options.workers, options.output / "first")
    surprising = {_file_of(one) for one in outcomes if expectations.is_surprising(one, reasons)}
    reruns = _run(suite, sorted(surprising), options.workers, options.output / "rerun") if surprising else []
    result = expectations.compare(outcomes, reruns, expectations.of_files(reasons, files))
    unfinished = {_file_of(one) for one in outcomes if one.test.endswith(_UNFINISHED)}
    result.absent = [test for test in result.absent if test.partition("::")[0] not in unfinished]
    sys.stdout.write(expectations.report(result, options.output))
    if options.update:
        expectations.update(result, reasons, LIST)
    return 0 if result.is_as_expected else 1


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*", metavar="FILE", help="such as public/functional/ttl.spec.js (default: all)")
    parser.add_argument("--workers", type=int, default=2, help="files that run at a time (default: %(default)s)")
    parser.add_argument("--output", type=Path, default=LOGS, help="folder of the logs (default: %(default)s)")
    parser.add_argument("--update", action="store_true", help="rewrite the list of expected failures")
    return parser.parse_args()


def _file_of(outcome: Outcome) -> str:
    return outcome.test.partition("::")[0]


def _run(suite: Path, files: list[str], count: int, output: Path) -> list[Outcome]:
    output.mkdir(parents=True, exist_ok=True)
    with ThreadPoolExecutor(count) as workers:
        return [
            outcome for found in workers.map(lambda file: _run_file(suite, file, output), files) for outcome in found
        ]


def _run_file(suite: Path, file: str, output: Path) -> list[Outcome]:
    start = time.monotonic()
    log = output / f"{file.replace('/', '.')}.log"
    node = shutil.which("node") or sys.exit("Node.js is not installed.")
    # As its script "integration-test:node", with another reporter
    command = [node, "node_modules/mocha/bin/_mocha", "-r", "./compiled/test/public/common/setup.js"]
    command += ["--timeout", "100000", "--reporter", "json", "--exit", "--fgrep", _SIGNS_IN, "--invert"]
    command += [f"compiled/test/{file}"]
    # The tests verify no certificate if the host is localhost.
    with running_emulator(log.with_suffix(".emulator.log"), "--tls") as endpoint, log.open("wb") as written:
        host = endpoint.replace("127.0.0.1", "localhost")
        environment = {**os.environ, "ACCOUNT_HOST": host, "ACCOUNT_KEY": WELL_KNOWN_KEY}
        process = subprocess.Popen(  # noqa: S603 - a fixed command
            command, cwd=suite, env=environment, stdout=written, stderr=subprocess.STDOUT
        )
        try:
            process.wait(TIMEOUT_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
    outcomes = read(file, log.read_text(encoding="utf-8", errors="replace"))
    counts = Counter(outcome.outcome for outcome in outcomes)
    summary = ", ".join(f"{number} {outcome}" for outcome, number in sorted(counts.items())) or "no tests"
    sys.stdout.write(f"{file}: {summary} ({time.monotonic() - start:.0f} s)\n")
    sys.stdout.flush()
    return outcomes


def read(file: str, log: str) -> list[Outcome]:
    """Return the outcomes of a file from the report of Mocha, which follows what the tests have printed.

    Tests can have the same title, which then gets a number. A file without a report has a failure of its own.
    """
    _, start, report = log.rpartition('{\n  "stats": {')
    try:
        results, _ = json.JSONDecoder().raw_decode(start + report)
    except ValueError:
        return [Outcome(f"{file}{_UNFINISHED}", "failed", "did not finish")]
    seen: Counter[str] = Counter()
    outcomes = []
    for kind, outcome in (("passes", "passed"), ("failures", "failed"), ("pending", "skipped")):
        for test in results[kind]:
            title = " ".join(test["fullTitle"].split())
            seen[title] += 1
            number = f" #{seen[title]}" if seen[title] > 1 else ""
            message = " ".join(str(test["err"].get("message", test["err"])).split()) if test.get("err") else ""
            outcomes.append(Outcome(f"{file}::{title}{number}", outcome, message))
    return outcomes


if __name__ == "__main__":
    sys.exit(main())
