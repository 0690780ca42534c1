"""A pytest plugin that records outcomes and lets the suite use an emulator on any port."""

import json
import os
from pathlib import Path

import pytest
import test_config
from azure.cosmos._global_endpoint_manager import _GlobalEndpointManager

# The suite recognizes an emulator by this address and otherwise runs its tests of real accounts.
test_config.TestConfig.local_host = test_config.TestConfig.host
test_config.TestConfig.is_emulator = True
test_config.is_live._cache = False


@pytest.fixture(scope="session", autouse=True)
def finished_health_checks():
    """Let a new client check its endpoints before the test continues, for at most 2 s.

    The SDK does it in a thread, which then resets the client's location cache (_endpoints_health_check). Tests that add
    regions to the cache or count requests, such as test_cross_region_retry, race with it.
    """
    start = _GlobalEndpointManager._start_background_refresh

    def start_and_wait(manager, *arguments):
        start(manager, *arguments)
        if manager.startup:
            manager._refresh_thread.join(2)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_GlobalEndpointManager, "_start_background_refresh", start_and_wait)
        yield


class Recorder:
    """Writes one line for each collected test and for each outcome, so that they survive a killed process."""

    def __init__(self, path):
        self.path = Path(path)

    def write(self, test, outcome, message=""):
        with self.path.open("a", encoding="utf-8") as lines:
            lines.write(json.dumps({"test": test, "outcome": outcome, "message": message}) + "\n")

    def pytest_collectreport(self, report):
        if report.failed:
            self.write(report.nodeid, "failed", "collection: " + str(report.longrepr))

    def pytest_collection_finish(self, session):
        for item in session.items:
            self.write(item.nodeid, "collected")

    def pytest_runtest_logreport(self, report):
        if report.when == "call" or not report.passed:
            crash = getattr(report.longrepr, "reprcrash", None)
            self.write(report.nodeid, report.outcome, crash.message if crash else str(report.longrepr or ""))


@pytest.hookimpl
def pytest_configure(config):
    config.pluginmanager.register(Recorder(os.environ["SUITE_RECORD"]))
