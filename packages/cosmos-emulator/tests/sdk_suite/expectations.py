"""The list of expected failures, and how the outcomes of a run differ from it."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from pathlib import Path

from tests.sdk_suite.execution import Outcome

LIST = Path(__file__).with_name("expected_failures.json")
NO_REASON = "TODO: state the reason"


@dataclass
class Comparison:
    """Test IDs by result; `expected` has the expected failures by reason, `absent` those that did not run."""

    passed: list[str] = field(default_factory=list)
    skipped: list[str] = field(default_factory=list)
    flaky: list[Outcome] = field(default_factory=list)
    expected: dict[str, list[str]] = field(default_factory=dict)
    unexpected_failures: list[Outcome] = field(default_factory=list)
    unexpected_passes: list[str] = field(default_factory=list)
    absent: list[str] = field(default_factory=list)

    @property
    def is_as_expected(self) -> bool:
        """Whether the run differs from the list in nothing but flaky tests."""
        return not (self.unexpected_failures or self.unexpected_passes or self.absent)


def read_reasons(path: Path = LIST) -> dict[str, str]:
    """Return the reason of each expected failure."""
    return {test: reason for reason, tests in json.loads(path.read_text("utf-8")).items() for test in tests}


def is_surprising(outcome: Outcome, reasons: dict[str, str]) -> bool:
    """Return whether a listed test passed or another one failed."""
    unexpected = "passed" if outcome.test in reasons else "failed"
    return outcome.outcome == unexpected


def compare(outcomes: Iterable[Outcome], reruns: Iterable[Outcome], reasons: dict[str, str]) -> Comparison:
    """Compare outcomes with the reasons of the files that ran. A surprise that a rerun does not confirm is flaky."""
    result = Comparison()
    confirmed = {rerun.test for rerun in reruns if is_surprising(rerun, reasons)}
    absent = dict(reasons)
    for outcome in outcomes:
        test = outcome.test
        reason = absent.pop(test, None)
        if is_surprising(outcome, reasons):
            if test not in confirmed:
                result.flaky.append(outcome)
            elif reason is None:
                result.unexpected_failures.append(outcome)
            else:
                result.unexpected_passes.append(test)
        elif outcome.outcome == "passed":
            result.passed.append(test)
        elif outcome.outcome == "failed" and reason is not None:
            result.expected.setdefault(reason, []).append(test)
        elif reason is None:
            result.skipped.append(test)
        else:
            result.absent.append(test)
    result.absent += absent
    return result


def of_files(reasons: dict[str, str], files: Collection[str]) -> dict[str, str]:
    """Return the reasons for the tests of these files."""
    return {test: reason for test, reason in reasons.items() if test.partition("::")[0] in files}


def report(result: Comparison, logs: Path) -> str:
    """Describe a comparison, with the folder of the logs."""
    lines = [""]
    for reason, tests in sorted(result.expected.items()):
        lines += [f"{len(tests):4} expected to fail: {reason}"]
    for title, outcomes in (("Flaky", result.flaky), ("Unexpected failure", result.unexpected_failures)):
        lines += [f"{title}: {one.test} ({one.outcome})\n    {_first_line(one.message)}" for one in outcomes]
    lines += [f"Unexpected pass: {test}" for test in result.unexpected_passes]
    lines += [f"Listed as an expected failure, but did not run: {test}" for test in result.absent]
    expected = sum(map(len, result.expected.values()))
    passed = len(result.passed) + len(result.unexpected_passes)
    executed = passed + expected + len(result.flaky) + len(result.unexpected_failures)
    lines += [
        f"{executed} tests: {passed} passed ({passed / max(executed, 1):.1%}), {len(result.flaky)} flaky, {expected} "
        f"expected failures, {len(result.unexpected_failures)} unexpected failures. "
        f"{len(result.unexpected_passes)} passes were unexpected. {len(result.skipped)} were skipped. Logs: {logs}"
    ]
    return "\n".join(lines) + "\n"


def _first_line(message: str) -> str:
    return message.strip().partition("\n")[0][:200]


def update(result: Comparison, reasons: dict[str, str], path: Path = LIST) -> None:
    """Write the list as the run found it; new failures have no reason yet."""
    kept = {**reasons, **{outcome.test: NO_REASON for outcome in result.unexpected_failures}}
    for test in (*result.unexpected_passes, *result.absent):
        kept.pop(test, None)
    by_reason: dict[str, list[str]] = {}
    for test, reason in kept.items():
        by_reason.setdefault(reason, []).append(test)
    ordered = {reason: sorted(by_reason[reason]) for reason in sorted(by_reason)}
    path.write_text(json.dumps(ordered, indent=2, ensure_ascii=False) + "\n", "utf-8")
