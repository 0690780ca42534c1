"""A pytest plugin that records outcomes and lets the suite use an emulator on any port."""

import json
import os
from pathlib import Path

import pytest
import test_config

# The suite recognizes an emulator by this address and otherwise runs its tests of real accounts.
test_config.TestConfig.local_host = test_config.TestConfig.host
test_config.TestConfig.is_emulator = True
test_config.is_live._cache = False


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
