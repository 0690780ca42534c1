"""The session token of a page: from the header that scripts send, otherwise from the cookie that a navigation sends."""

from __future__ import annotations

import re
from contextlib import suppress

import azure.functions as func

from shared.database.sessions import SESSION_HEADER, Session
from shared.errors import MalformedRequest

# The site's scripts set it after each command.
_COOKIE = re.compile(r"(?:^|;)\s*blog-session=([^;]*)")
DELETION = "blog-session=; Path=/; Max-Age=0; SameSite=Lax"


def session_of(request: func.HttpRequest) -> Session:
    """Parse the token. A malformed one counts as none, because a page must not fail because of its cookie."""
    with suppress(MalformedRequest):
        return Session.parse(request.headers.get(SESSION_HEADER) or cookie_of(request) or "")
    return Session()


def cookie_of(request: func.HttpRequest) -> str | None:
    """The token in the cookie, or None."""
    found = _COOKIE.search(request.headers.get("Cookie", ""))
    return found[1] if found else None
