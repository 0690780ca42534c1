"""The cookie of the inspector, which web/static/inspector.js sets: who looks at it, and whether it is open."""

from __future__ import annotations

import re

import azure.functions as func

from shared.settings import app_settings

_COOKIE = re.compile(r"(?:^|;)\s*blog-inspector=(?P<visitor>[0-9a-f]{16})(?P<open>-open)?\s*(?:;|$)", re.ASCII)


def visitor_of(request: func.HttpRequest) -> str:
    """The random ID of the browser profile, or nothing if the inspector is disabled or was never opened."""
    found = _cookie_of(request)
    return found["visitor"] if found else ""


def is_open(request: func.HttpRequest) -> bool:
    """Whether pages are shown with the open inspector. Opened by a script, it would shift them."""
    found = _cookie_of(request)
    return found is not None and found["open"] is not None


def _cookie_of(request: func.HttpRequest) -> re.Match[str] | None:
    return _COOKIE.search(request.headers.get("Cookie", "")) if app_settings().inspector else None
