"""The library's own tests of an emulator, which its distribution contains."""

from __future__ import annotations

import pytest
from cosmodol.connection import CosmosConnection
from cosmodol.tests import test_integration_emulator as tests
from scenario import CONNECTION_STRING

outcomes: list[str] = []


class Outcomes:
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when == "call" or report.outcome != "passed":
            outcomes.append(report.outcome)


# They look for an emulator on port 8081, or start Microsoft's with Docker.
tests.emulator_is_running = lambda: True
tests.mk_emulator_connection = lambda: CosmosConnection(connection_string=CONNECTION_STRING)
# Two of them call a method that the library no longer has.
options = ["-p", "no:cacheprovider", "-k", "not test_replace_with_"]
status = pytest.main(["--pyargs", tests.__name__, *options], plugins=[Outcomes()])
assert status == pytest.ExitCode.OK, status
assert len(outcomes) > 20, outcomes
assert set(outcomes) == {"passed"}, outcomes
