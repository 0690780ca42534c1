"""The decorator that turns a handler into a page of the web site."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar

import azure.functions as func

from addons.web import extensions
from shared.endpoints import Endpoint
from shared.errors import CommentNotFound
from shared.platform.database.scope import Scope
from shared.platform.database.sessions import SESSION_HEADER, Session
from shared.platform.errors import DatabaseUnavailable, MalformedRequest
from shared.platform.http.callers import signed_in_caller
from shared.platform.http.calls import Call
from shared.platform.http.endpoints import Handler, origin_of, path_of
from shared.platform.http.problems import problem_response
from shared.platform.http.responses import CONTENT_SECURITY_POLICY, Response, document_response, http_response
from shared.platform.settings import app_settings

_HEADERS = {
    "Content-Security-Policy": f"{CONTENT_SECURITY_POLICY}; manifest-src 'self'; form-action 'self'",
    "Referrer-Policy": "same-origin",
}
# Headers of the API's error that its page has, too.
_PROBLEM_HEADERS = ("Retry-After", "WWW-Authenticate")
# The site's scripts set it after each command, because a navigation cannot send the header.
_SESSION_COOKIE = re.compile(r"(?:^|;)\s*blog-session=([^;]*)")
_COOKIE_DELETION = "blog-session=; Path=/; Max-Age=0; SameSite=Lax"

# The variables of a template, besides the variables of every page; None if the page does not exist.
Context = dict[str, object] | None


class PageMoved(Exception):
    """The page is at another path."""

    def __init__(self, path: str) -> None:
        super().__init__(path)
        self.path = path


@dataclass(frozen=True)
class WebPage(Endpoint):
    """Decorator that turns a handler into a page; place the route above.

    The handler returns the variables of `template`. The page has an ETag and security headers, and reports the request
    charge like the API. Errors become pages that say what to do. A page of a list that is the same for everybody
    (`listed`) ignores the session.
    """

    is_page: ClassVar[bool] = True

    _: KW_ONLY
    template: str
    media_type: str = "text/html"

    async def respond(self, handler: Handler, request: func.HttpRequest, scope: Scope) -> func.HttpResponse:
        call = self._parse(request)
        cookie = _SESSION_COOKIE.search(request.headers.get("Cookie", ""))
        session = Session()
        if not self.listed:
            with suppress(MalformedRequest):  # a page must not fail because of its cookie
                session = Session.parse(request.headers.get(SESSION_HEADER) or (cookie[1] if cookie else ""))
        scope.session = session
        try:
            context = await _read(handler, call, scope)
        except PageMoved as moved:  # not an error, which would be logged
            query = request.url.partition("?")[2]
            location = f"{moved.path}?{query}" if query else moved.path
            return func.HttpResponse(status_code=308, headers={"Location": location, "Cache-Control": "no-cache"})
        if context is None:
            return _error_page(request, 404)
        # In a thread, because a hostile post can take 0.2 s.
        content = await asyncio.to_thread(_render, self.template, _page_variables(request) | context)
        headers = dict(_HEADERS)
        if self.private:
            headers["Cache-Control"] = "no-store"
        elif signed_in_caller(request.headers):
            headers["Cache-Control"] = "private, no-cache"
        response = await http_response(document_response(content, self.media_type, headers=headers), call)
        if cookie and not self.listed and not scope.session.has_valid_token:
            response.headers["Set-Cookie"] = _COOKIE_DELETION
        return response

    def refuse(self, error: Exception, request: func.HttpRequest) -> func.HttpResponse:
        problem = problem_response(error, path_of(request))
        headers = {name: problem.headers[name] for name in _PROBLEM_HEADERS if name in problem.headers}
        return _error_page(request, problem.status_code, headers, is_comment=isinstance(error, CommentNotFound))


async def _read(handler: Handler, call: Call[Any], scope: Scope) -> Any:
    """Call the handler; again without the reader's token, which they cannot change, if no replica reaches it."""
    has_token = scope.session.has_valid_token
    try:
        return await handler(call)
    except DatabaseUnavailable:
        if not has_token:
            raise
        scope.session = Session()
        return await handler(call)


async def fragment(template: str, context: Mapping[str, object]) -> Response:
    """Part of a page, for the site's scripts."""
    return Response(await asyncio.to_thread(_render, template, context), "text/html", headers=_HEADERS)


def _error_page(
    request: func.HttpRequest, status: int, added: Mapping[str, str] | None = None, *, is_comment: bool = False
) -> func.HttpResponse:
    content = _render("error.html", _page_variables(request) | {"status": status, "is_comment": is_comment})
    headers = {"Cache-Control": "no-store", **_HEADERS, **(added or {})}
    return func.HttpResponse(content, status_code=status, headers=headers, mimetype="text/html")


def _page_variables(request: func.HttpRequest) -> dict[str, object]:
    caller = signed_in_caller(request.headers)
    return {
        "site_url": app_settings().site_url or origin_of(request),
        "path": path_of(request),
        "caller": caller.user if caller else "",
        "data_attributes": extensions.data_attributes(request),
    }


def _render(template: str, context: Mapping[str, object]) -> bytes:
    # Slow to import, and no API request needs it.
    from addons.web.rendering import render

    return render(template, context)
