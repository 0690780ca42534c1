"""Run the emulator tests of the .NET SDK against the emulator, and compare the outcomes with the expected failures.

    python -m tests.dotnet_suite [--update] [CLASS ...]

Needs the compiled suite: COSMOS_DOTNET_TESTS names its folder, which has the script `run`. Each class runs against an
empty emulator. Fails on an unexpected failure and on an unexpected pass. Classes with one of them run again, and a test
with another outcome then is only reported as flaky.
"""

from __future__ import annotations

import argparse
import os
import re
import shlex
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from tests.sdk_suite import expectations
from tests.sdk_suite.execution import Outcome

ROOT = Path(__file__).resolve().parents[4]
LOGS = ROOT / ".data" / "dotnet-suite"
LIST = Path(__file__).with_name("expected_failures.json")
_KILLED = "::the class"  # the failure of a class that did not finish, of whose tests the last ones are absent
_TEST = re.compile(r"^(passed|failed|skipped) (.+?) \([\dhms .]+\)\n((?:  .*\n){0,8})", re.MULTILINE)


def main() -> int:
    options = _options()
    suite = Path(os.environ.get("COSMOS_DOTNET_TESTS") or ROOT.parent / "shared/microsoft/cosmos-dotnet-tests")
    if not (suite / "run").is_file():
        raise SystemExit(f"{suite} is not the compiled suite. Set COSMOS_DOTNET_TESTS to its folder.")
    reasons = expectations.read_reasons(LIST)
    outcomes = _run(suite, options.classes, options.shards, options.output / "first")
    surprising = {_class_of(one) for one in outcomes if expectations.is_surprising(one, reasons)}
    reruns = _run(suite, sorted(surprising), options.shards, options.output / "rerun") if surprising else []
    listed = expectations.of_files(reasons, options.classes) if options.classes else reasons
    result = expectations.compare(outcomes, reruns, listed)
    killed = {_class_of(one) for one in outcomes if one.test.endswith(_KILLED)}
    result.absent = [test for test in result.absent if test.partition("::")[0] not in killed]
    sys.stdout.write(expectations.report(result, options.output))
    if options.update:
        expectations.update(result, reasons, LIST)
    return 0 if result.is_as_expected else 1


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("classes", nargs="*", metavar="CLASS", help="such as CosmosItemBulkTests (default: all)")
    parser.add_argument("--shards", type=int, default=2, help="classes that run at a time (default: %(default)s)")
    parser.add_argument("--output", type=Path, default=LOGS, help="folder of the logs (default: %(default)s)")
    parser.add_argument("--update", action="store_true", help="rewrite the list of expected failures")
    return parser.parse_args()


def _class_of(outcome: Outcome) -> str:
    return outcome.test.partition("::")[0]


def _run(suite: Path, classes: Iterable[str], shards: int, output: Path) -> list[Outcome]:
    output.mkdir(parents=True, exist_ok=True)
    for log in output.glob("*.log"):
        log.unlink()
    emulator = shlex.join([sys.executable, "-m", "cosmos_emulator"])
    command = [suite / "run", "--emulator", emulator, "--shards", str(shards), "--output", output, *classes]
    # .NET's thread pool starts with as many threads. With two, tests that block one have no other for their timers.
    environment = {"DOTNET_PROCESSOR_COUNT": "8", **os.environ}
    subprocess.run(command, check=True, env=environment)  # noqa: S603 - the script of the suite
    logs = sorted(log for log in output.glob("*.log") if not log.name.startswith("emulator-"))
    return [outcome for log in logs for outcome in read(log.stem.rpartition(".")[2], log.read_text(errors="replace"))]


def read(name: str, log: str) -> list[Outcome]:
    """Return the outcomes of a class from the log of its tests.

    Tests can have the same title, which then gets a number. A class that was killed has a failure of its own.
    """
    seen: Counter[str] = Counter()
    outcomes = []
    for outcome, title, message in _TEST.findall(log):
        seen[title] += 1
        number = f" #{seen[title]}" if seen[title] > 1 else ""
        outcomes.append(Outcome(f"{name}::{title}{number}", outcome, " ".join(message.split())))
    if "\nTest run summary" not in log:
        outcomes.append(Outcome(f"{name}{_KILLED}", "failed", "did not finish"))
    return outcomes


if __name__ == "__main__":
    sys.exit(main())
