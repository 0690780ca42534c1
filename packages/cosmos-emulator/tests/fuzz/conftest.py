"""Fixtures: one emulator per test worker, and a summary of the inputs."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from tests.fuzz.fuzz_rounds import FuzzRounds
from tests.fuzz.fuzz_target import FuzzTarget, running_fuzz_target


@pytest.fixture
def rounds(request: pytest.FixtureRequest, record_property: Callable[[str, object], None]) -> Iterator[FuzzRounds]:
    """The rounds of this test, which fails at the end if they have findings."""
    played = FuzzRounds.of_environment(request.node.name)
    yield played
    record_property("fuzz", f"seed {played.seed}  inputs {played.inputs}  findings {len(played.findings)}")
    played.check()


@pytest.fixture(scope="session")
def fuzz_target() -> Iterator[FuzzTarget]:
    with running_fuzz_target() as running:
        yield running


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    for report in terminalreporter.getreports(""):
        for name, text in getattr(report, "user_properties", ()):
            if name == "fuzz" and report.when == "teardown":
                terminalreporter.write_line(f"{text}  {report.nodeid}")
