"""The decorator that turns a handler into an HTTP function."""

from __future__ import annotations

import logging
import re
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import KW_ONLY, dataclass, field
from typing import Any, ClassVar, Final

import azure.functions as func
from opentelemetry.trace import Span
from pydantic import BaseModel

from shared.platform import NAME
from shared.platform.data.pages import Cursor
from shared.platform.database.retries import REQUEST_DEADLINE_S
from shared.platform.database.scope import Scope, deadline, request_scope
from shared.platform.database.sessions import SESSION_HEADER, Session
from shared.platform.errors import (
    AppError,
    DatabaseUnavailable,
    InternalReason,
    NotAuthenticated,
    NotFound,
)
from shared.platform.http.callers import ANONYMOUS, authenticate
from shared.platform.http.calls import QUERY, Call, parse_call
from shared.platform.http.problems import problem_of, problem_response
from shared.platform.http.responses import http_response
from shared.platform.models import RequestModel
from shared.platform.telemetry import fail, log, span, without_private

_ERROR, _FAILURE = 400, 500
# The platform, which answers other origins, does not let their pages read these headers:
# https://github.com/Azure/azure-mobile-apps-node/pull/325
_EXPOSED = f"ETag, Location, Retry-After, {SESSION_HEADER}, x-ms-request-charge"
_ORIGIN = re.compile("[^:]+://[^/?#]*")

# Takes a Call, and returns a Response, or what a subclass of Endpoint documents.
Handler = Callable[[Call[Any]], Awaitable[Any]]
HttpFunction = Callable[[func.HttpRequest, func.Context], Awaitable[func.HttpResponse]]

# Called with the span of each request, as the request hooks of OpenTelemetry's instrumentations are.
request_hooks: Final[list[Callable[[Span, func.HttpRequest], None]]] = []

_endpoints: dict[Callable[..., Any], Endpoint] = {}


@dataclass(frozen=True)
class Endpoint:
    """Decorator that turns a handler into an HTTP function; place the route above.

    The function authenticates commands, parses the request, maps errors to problem details, reports the request charge
    and the session, and logs one line. The handler's docstring becomes the summary and description for clients.
    """

    # The errors for invalid IDs in the path, by the parameter of the route; a subclass overrides it.
    not_found: ClassVar[Mapping[str, type[NotFound]]] = {}
    # Whether links of other sites can lead to it.
    is_page: ClassVar[bool] = False

    # Its name in the design, such as C1.
    request: str = ""
    _: KW_ONLY
    body: type[RequestModel] | None = None
    # A resource (or one of several), a page of it (`paged`), or a list that is the same for everybody (`listed`).
    returns: type[BaseModel] | tuple[type[BaseModel], ...] | None = None
    paged: bool = False
    listed: bool = False
    parse_cursor: Callable[[str], Any] = Cursor.parse
    # Query parameters that only this endpoint has, with their descriptions and schemas.
    parameters: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    # A query that needs a caller, as commands do. No cache keeps its response.
    private: bool = False
    # Besides the errors of every endpoint.
    errors: tuple[type[AppError], ...] = ()
    # The success statuses, if they are not the usual one of the method.
    statuses: tuple[int, ...] = ()

    def __call__(self, handler: Handler) -> HttpFunction:
        name, title = handler.__name__, (handler.__doc__ or "").partition("\n")[0].rstrip(".")

        async def run(req: func.HttpRequest, context: func.Context) -> func.HttpResponse:
            attributes = {
                "http.request.method": req.method,
                "url.path": path_of(req),
                f"{NAME}.request": self.request,
                f"{NAME}.title": title,
            }
            # The host passes on the caller's trace, with its own span as the parent if it traces requests.
            caller = context.trace_context.trace_parent
            with span(name, caller=caller, attributes=attributes) as recorded, request_scope(name) as scope:
                for hook in request_hooks:
                    hook(recorded, req)
                return await self._run(handler, req, context.invocation_id, recorded, scope)

        # The Functions host names a function after its Python function.
        run.__name__ = run.__qualname__ = name
        run.__doc__ = handler.__doc__
        _endpoints[run] = self
        return run

    async def respond(self, handler: Handler, request: func.HttpRequest, scope: Scope) -> func.HttpResponse:
        """Return the response to a valid request. Raises what `refuse` turns into a response."""
        call = self._parse(request)
        scope.session = Session.parse(request.headers.get(SESSION_HEADER, ""))
        return await http_response(await handler(call), call)

    def refuse(self, error: Exception, request: func.HttpRequest) -> func.HttpResponse:
        """Return the response to a request that failed."""
        return problem_response(error, path_of(request))

    async def _run(
        self, handler: Handler, request: func.HttpRequest, request_id: str, recorded: Span, scope: Scope
    ) -> func.HttpResponse:
        started, function = time.perf_counter(), handler.__name__
        try:
            problem = dict[str, str]()
            async with deadline(REQUEST_DEADLINE_S):
                response = await self.respond(handler, request, scope)
        except Exception as error:  # noqa: BLE001 - the edge: maps every failure to a response
            _log_failure(error, function=function, request_id=request_id)
            response = self.refuse(error, request)
            problem = {"problem": problem_of(error).code}
        self._add_headers(response, request, scope)
        charge_ru, status = round(scope.request_units, 2), response.status_code
        recorded.set_attributes({"http.response.status_code": status, f"{NAME}.charge_ru": charge_ru})
        if status >= _FAILURE:
            fail(recorded, str(status))
        outcome: dict[str, Any] = {"status": status, **problem, "charge_ru": charge_ru}
        outcome["duration_ms"] = round((time.perf_counter() - started) * 1000, 1)
        outcome["request_id"] = request_id
        log(logging.INFO, "request", function=function, method=request.method, path=path_of(request), **outcome)
        return response

    def _add_headers(self, response: func.HttpResponse, request: func.HttpRequest, scope: Scope) -> None:
        """Add security, caching, the charge and, to the response of a command, the session."""
        response.headers["X-Content-Type-Options"] = "nosniff"
        # Without a lifetime, caches can choose one (https://www.rfc-editor.org/rfc/rfc9111#section-4.2.2).
        is_kept = response.status_code < _ERROR and not self.private
        response.headers.setdefault("Cache-Control", "no-cache" if is_kept else "no-store")
        if "Origin" in request.headers:
            response.headers["Access-Control-Expose-Headers"] = _EXPOSED
        if scope.responses:
            response.headers["x-ms-request-charge"] = f"{scope.request_units:.2f}"
        if request.method not in QUERY and (token := str(scope.session)):
            response.headers[SESSION_HEADER] = token

    def _parse(self, request: func.HttpRequest) -> Call[Any]:
        """Authenticate the caller of a command, parse, then authorize: only a caller learns why parsing fails."""
        if request.method in QUERY and not self.private:
            return parse_call(request, self.body, ANONYMOUS, self.parse_cursor, self.not_found)
        caller = authenticate(request.headers, is_page=self.is_page)
        call: Call[Any] = parse_call(request, self.body, caller, self.parse_cursor, self.not_found)
        self.authorize(call, request)
        return call

    def authorize(self, _call: Call[Any], _request: func.HttpRequest) -> None:
        """Raise Forbidden if the caller cannot do this; a subclass overrides it."""


def endpoint_of(function: Callable[..., Any]) -> Endpoint:
    """Return the decorator of an HTTP function. Raises KeyError."""
    return _endpoints[function]


def path_of(request: func.HttpRequest) -> str:
    """The path of the request's URL, encoded. The host in it can be invalid, so that urlsplit would fail."""
    return str(request.url)[len(origin_of(request)) :].partition("?")[0]


def origin_of(request: func.HttpRequest) -> str:
    """The scheme and host of the request's URL."""
    found = _ORIGIN.match(str(request.url))
    return found[0] if found else ""


def _log_failure(error: Exception, **fields: Any) -> None:
    if isinstance(error, InternalReason):
        level = logging.WARNING if isinstance(error, DatabaseUnavailable) else logging.ERROR
        log(level, error.event, **fields, reason=without_private(error.reason))
    elif isinstance(error, NotAuthenticated):
        log(logging.INFO, "not authenticated", **fields, fault=error.fault)
    elif problem_of(error) is AppError.problem:
        log(logging.ERROR, "request failed", **fields, exception=error)
