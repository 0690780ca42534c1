"""The inspector on the pages of the site, and its cookie, which static/inspector.js sets.

The cookie has the visitor and, once they have chosen it, whether the inspector is open, and its height.
Pages are rendered with it, because an inspector that a script opens would shift them.
"""

from __future__ import annotations

import re
from pathlib import Path

import azure.functions as func

from addons.inspector.data_model import data_model
from addons.web.extensions import EXTENSIONS, Extension
from shared.platform.http.endpoints import path_of

_COOKIE = re.compile(
    r"(?:^|;)\s*blog-inspector=(?P<visitor>[0-9a-f]{16})(?:-(?P<state>open|closed)-(?P<height>low|half|high))?\s*(?:;|$)",
    re.ASCII,
)
_INTRODUCED = re.compile(r"(?:^|;)\s*blog-introduced=1\s*(?:;|$)")


def extend() -> None:
    """Add the inspector to all pages."""
    EXTENSIONS.append(
        Extension(
            folder=Path(__file__).parent,
            head="_inspector_head.html",
            body="_inspector.html",
            introduction="_introduction.html",
            variables=lambda: {"data_model": data_model()},
            links={"Tour": "/tour"},
            data_attributes=_data_attributes,
        )
    )


def visitor_of(request: func.HttpRequest) -> str:
    """The random ID of the browser profile, or nothing on its first page."""
    found = _cookie_of(request)
    return found["visitor"] if found else ""


def _data_attributes(request: func.HttpRequest) -> dict[str, str]:
    """Whether the inspector is open or closed, the height of its sheet, and whether the panel was dismissed."""
    introduced = {"introduced": "1"} if _INTRODUCED.search(request.headers.get("Cookie", "")) else {}
    return introduced | _state(request)


def _state(request: func.HttpRequest) -> dict[str, str]:
    found = _cookie_of(request)
    chosen = found.groupdict() if found else {}
    # The tour shows what its buttons cost. A sheet begins as a bar there, because it would cover the text.
    is_tour = f"{path_of(request)}/".startswith("/tour/")
    state = chosen.get("state") or ("open" if is_tour else "closed")
    return {"inspector": state, "sheet": "bar" if is_tour else chosen.get("height") or "half"}


def _cookie_of(request: func.HttpRequest) -> re.Match[str] | None:
    return _COOKIE.search(request.headers.get("Cookie", ""))
