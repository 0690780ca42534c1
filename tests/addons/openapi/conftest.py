"""Fixtures for tests of the API's description and its page."""

from __future__ import annotations

from tests.auth.conftest import app_service_app, session
from tests.browser import browser, chromium
from tests.functions.conftest import app, gateway, quiet_api, quiet_app, stored

__all__ = ["app", "app_service_app", "browser", "chromium", "gateway", "quiet_api", "quiet_app", "session", "stored"]
