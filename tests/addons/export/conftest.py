"""Fixtures for tests of the export."""

from __future__ import annotations

from tests.auth.conftest import app_service_app, moderator, session, signed_in, stranger
from tests.functions.conftest import app
from tests.instances import apps, clock, instances, lagging

__all__ = [
    "app",
    "app_service_app",
    "apps",
    "clock",
    "instances",
    "lagging",
    "moderator",
    "session",
    "signed_in",
    "stranger",
]
