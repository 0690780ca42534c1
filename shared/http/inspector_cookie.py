"""The cookie of the inspector, which web/static/inspector.js sets.

It has the visitor and, once they have chosen it, whether the inspector is open, and its height.
Pages are rendered with it, because an inspector that a script opens would shift them.
"""

from __future__ import annotations

import re
from urllib.parse import urlsplit

import azure.functions as func

from shared.settings import app_settings

_COOKIE = re.compile(
    r"(?:^|;)\s*blog-inspector=(?P<visitor>[0-9a-f]{16})(?:-(?P<state>open|closed)-(?P<height>low|half|high))?\s*(?:;|$)",
    re.ASCII,
)


def visitor_of(request: func.HttpRequest) -> str:
    """The random ID of the browser profile, or nothing on its first page. Call it if the inspector is enabled."""
    found = _cookie_of(request)
    return found["visitor"] if found else ""


def state_of(request: func.HttpRequest) -> dict[str, str]:
    """The variables of a page: `inspector` is open, closed, or empty if disabled; `height` is that of the sheet."""
    if not app_settings().inspector:
        return {"inspector": "", "height": ""}
    found = _cookie_of(request)
    if found is None or found["state"] is None:
        # The tour shows what its buttons cost.
        is_tour = f"{urlsplit(request.url).path}/".startswith("/tour/")
        return {"inspector": "open" if is_tour else "closed", "height": "half"}
    return {"inspector": found["state"], "height": found["height"]}


def _cookie_of(request: func.HttpRequest) -> re.Match[str] | None:
    return _COOKIE.search(request.headers.get("Cookie", ""))
