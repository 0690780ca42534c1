"""Servers to attack, one of each for a worker of the test run, and the report of what was tried."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from tests.fuzz.prey import Prey, preyed_emulator
from tests.fuzz.rounds import Rounds


@pytest.fixture
def rounds(request: pytest.FixtureRequest, record_property: Callable[[str, object], None]) -> Iterator[Rounds]:
    """The rounds of this test; it fails at the end when they found something."""
    played = Rounds.of_environment(request.node.name)
    yield played
    record_property("fuzz", f"seed {played.seed}  inputs {played.inputs}  findings {len(played.findings)}")
    played.check()


@pytest.fixture(scope="session")
def prey() -> Iterator[Prey]:
    with preyed_emulator() as running:
        yield running


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    for report in terminalreporter.getreports(""):
        for name, text in getattr(report, "user_properties", ()):
            if name == "fuzz" and report.when == "teardown":
                terminalreporter.write_line(f"{text}  {report.nodeid}")
