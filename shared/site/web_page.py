"""The decorator that turns a handler into a page of the web site."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from urllib.parse import urlsplit

import azure.functions as func

from shared.auth.callers import ANONYMOUS, signed_in_user
from shared.database.charges import Charge
from shared.database.sessions import SESSION_HEADER, Session
from shared.errors import CommentNotFound, DatabaseUnavailable, MalformedRequest
from shared.http.calls import Call, parse_call
from shared.http.endpoints import HttpFunction, http_function, path_of
from shared.http.inspector_cookie import state_of
from shared.http.problems import problem_response
from shared.http.responses import CONTENT_SECURITY_POLICY, Document, served
from shared.settings import app_settings

_CONTENT_SECURITY_POLICY = f"{CONTENT_SECURITY_POLICY}; manifest-src 'self'; form-action 'self'"
# The site's scripts set it after each command, because a navigation cannot send the header.
_SESSION_COOKIE = re.compile(r"(?:^|;)\s*blog-session=([^;]*)")
_COOKIE_DELETION = "blog-session=; Path=/; Max-Age=0; SameSite=Lax"

# The variables of a template, besides those of every page; None if the page does not exist.
Context = dict[str, object] | None


@dataclass(frozen=True)
class WebPage:
    """Decorator that turns a handler into a page; place the route above.

    The handler returns the variables of `template`. The page has an ETag and security headers, and reports the request
    charge like the API. Errors become pages that say what to do. A page of a cached list (`listed`) ignores the
    session.
    """

    template: str
    media_type: str = "text/html"
    listed: bool = False

    def __call__(self, handler: Callable[[Call[None]], Awaitable[Context]]) -> HttpFunction:
        async def respond(request: func.HttpRequest, charge: Charge) -> func.HttpResponse:
            call: Call[None] = parse_call(request, None, ANONYMOUS)
            cookie = _SESSION_COOKIE.search(request.headers.get("Cookie", ""))
            session = Session()
            if not self.listed:
                with suppress(MalformedRequest):  # a page must not fail because of its cookie
                    session = Session.parse(request.headers.get(SESSION_HEADER) or (cookie[1] if cookie else ""))
            charge.session, has_token = session, str(session) != ""
            try:
                context = await handler(call)
            except DatabaseUnavailable:
                if not has_token:
                    raise
                # No replica has reached the token, which may be of a restored database or forged.
                charge.session, has_token = Session(), False
                context = await handler(call)
            if context is None:
                return _missing_page(request)
            # In a thread, because a hostile post can take 0.2 s.
            content = await asyncio.to_thread(_render, self.template, _base(request) | context)
            response = _secured(served(call, Document(content, self.media_type)))
            if signed_in_user(request.headers):
                response.headers["Cache-Control"] = "private, no-cache"
            if cookie and not self.listed and (session.was_refuted or not has_token):
                response.headers["Set-Cookie"] = _COOKIE_DELETION
            return response

        return http_function(handler, respond, _error_page)


async def fragment(template: str, context: Mapping[str, object]) -> func.HttpResponse:
    """Part of a page, for the site's scripts."""
    content = await asyncio.to_thread(_render, template, context)
    return _secured(func.HttpResponse(content, mimetype="text/html"))


def _secured(response: func.HttpResponse) -> func.HttpResponse:
    response.headers["Content-Security-Policy"] = _CONTENT_SECURITY_POLICY
    response.headers["Referrer-Policy"] = "same-origin"
    return response


def _missing_page(request: func.HttpRequest) -> func.HttpResponse:
    # The API's clients expect the host's own response, which has no body.
    if f"{path_of(request).lower()}/".startswith("/api/"):
        return func.HttpResponse(status_code=404)
    return _error_response(request, 404)


def _error_page(error: Exception, request: func.HttpRequest) -> func.HttpResponse:
    problem = problem_response(error, path_of(request))
    retry_after, is_comment = problem.headers.get("Retry-After"), isinstance(error, CommentNotFound)
    return _error_response(request, problem.status_code, retry_after, is_comment=is_comment)


def _error_response(
    request: func.HttpRequest, status: int, retry_after: str | None = None, *, is_comment: bool = False
) -> func.HttpResponse:
    content = _render("error.html", _base(request) | {"status": status, "is_comment": is_comment})
    headers = {"Cache-Control": "no-store"} | ({"Retry-After": retry_after} if retry_after else {})
    return _secured(func.HttpResponse(content, status_code=status, headers=headers, mimetype="text/html"))


def _base(request: func.HttpRequest) -> dict[str, object]:
    url = urlsplit(request.url)
    return {
        "site_url": app_settings().site_url or f"{url.scheme}://{url.netloc}",
        "path": url.path,
        "caller": signed_in_user(request.headers) or "",
        **state_of(request),
    }


def _render(template: str, context: Mapping[str, object]) -> bytes:
    # Slow to import, and no API request needs it.
    from shared.site.rendering import render

    return render(template, context)
