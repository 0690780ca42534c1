"""These tests need Core Tools, and are skipped without."""

from __future__ import annotations

import os

import pytest
from tests.real_host.core_tools import func


@pytest.fixture(scope="session", autouse=True)
def _available() -> None:
    if func() is None:
        reason = "install Azure Functions Core Tools, or set FUNC to the path of func"
        assert "REQUIRE_FUNC" not in os.environ, reason
        pytest.skip(reason)


@pytest.fixture(scope="session")
def records() -> bool:
    """Whether the host's answers replace the recorded ones."""
    return bool(os.environ.get("RECORD"))
