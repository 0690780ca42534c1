"""The decorator that turns a handler into an HTTP function."""

from __future__ import annotations

import logging
import re
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import azure.functions as func
from pydantic import BaseModel

from shared.auth.callers import ANONYMOUS, authenticate, require_can_act_as
from shared.database.charges import Charge, deadline, metered
from shared.database.retries import REQUEST_DEADLINE_S
from shared.database.sessions import SESSION_HEADER, Session
from shared.errors import BlogError, DatabaseUnavailable, InternalReason, MalformedRequest, NotAuthenticated
from shared.http.calls import Body, Call, parse_call
from shared.http.inspector_cookie import visitor_of
from shared.http.problems import problem_of, problem_response
from shared.http.responses import encoded
from shared.models.base import RequestModel
from shared.observability.logs import log
from shared.observability.spans import fail, span
from shared.settings import app_settings

# The Functions host returns 404 for a method that the route does not list.
QUERY = ["GET", "HEAD"]
_ERROR, _FAILURE = 400, 500
_ORIGIN = re.compile("[^:]+://[^/?#]*")

Handler = Callable[[Call[Body]], Awaitable[func.HttpResponse]]
HttpFunction = Callable[[func.HttpRequest, func.Context], Awaitable[func.HttpResponse]]


@dataclass(frozen=True, kw_only=True)
class Endpoint:
    """Decorator that turns a handler into an HTTP function; place the route above.

    The function authenticates commands, parses the request, maps errors to problem details, reports the request
    charge and the session, and logs one line. The arguments describe it in OpenAPI: `statuses` are the success
    statuses, `returns` is one resource, a page of it (`paged`), or a cached list (`listed`), and `errors` are specific
    to this endpoint. The handler's docstring becomes the summary and description.
    """

    statuses: tuple[int, ...]
    body: type[RequestModel] | None = None
    returns: type[BaseModel] | None = None
    paged: bool = False
    listed: bool = False
    errors: tuple[type[BlogError], ...] = ()

    def __call__(self, handler: Handler[Body]) -> HttpFunction:
        async def respond(request: func.HttpRequest, charge: Charge) -> func.HttpResponse:
            call: Call[Body] = await _parse(self.body, request)
            session = Session.parse(request.headers.get(SESSION_HEADER, ""))
            if not self.listed:  # other requests wait for the same read of a cached list
                charge.session = session
            return encoded(call, await handler(call), is_query=request.method in QUERY)

        run = http_function(handler, respond, lambda error, request: problem_response(error, path_of(request)))
        vars(run)["endpoint"] = self
        return run


def http_function(
    handler: Callable[..., object],
    respond: Callable[[func.HttpRequest, Charge], Awaitable[func.HttpResponse]],
    refuse: Callable[[Exception, func.HttpRequest], func.HttpResponse],
) -> HttpFunction:
    """The HTTP function with the name and docstring of `handler`: runs `respond`, and `refuse` if that fails.

    It handles an invalid Host header itself, because `respond` and `refuse` may need a valid URL.
    """
    name = handler.__name__
    summary = (handler.__doc__ or "").partition("\n")[0]

    async def run(req: func.HttpRequest, context: func.Context) -> func.HttpResponse:
        started, path = time.perf_counter(), path_of(req)
        # The host passes on the caller's trace, with its own span as the parent if it traces requests.
        caller = context.trace_context.trace_parent
        about = {"http.request.method": req.method, "url.path": path, "blog.summary": summary}
        if app_settings().inspector and (visitor := visitor_of(req)):
            about["blog.visitor"] = visitor
        with span(name, caller=caller, attributes=about) as recorded, metered(name) as charge:
            has_valid_host, problem = _has_valid_host(req), dict[str, Any]()
            try:
                if not has_valid_host:
                    raise MalformedRequest("The Host header is invalid.")
                async with deadline(REQUEST_DEADLINE_S):
                    response = await respond(req, charge)
            except Exception as error:  # noqa: BLE001 - the edge: maps every failure to a response
                _log_failure(error, function=name, request_id=context.invocation_id)
                problem = {"problem": problem_of(error).code}
                response = refuse(error, req) if has_valid_host else problem_response(error, path)
            response.headers["X-Content-Type-Options"] = "nosniff"
            # Without a lifetime, caches can choose one (https://www.rfc-editor.org/rfc/rfc9111#section-4.2.2).
            response.headers.setdefault("Cache-Control", "no-cache" if response.status_code < _ERROR else "no-store")
            if charge.answers:
                response.headers["x-ms-request-charge"] = f"{charge.request_units:.2f}"
            if req.method not in QUERY and (token := str(charge.session)):
                response.headers[SESSION_HEADER] = token
            charge_ru, status = round(charge.request_units, 2), response.status_code
            recorded.set_attributes({"http.response.status_code": status, "blog.charge_ru": charge_ru})
            if status >= _FAILURE:
                fail(recorded, str(status))
            log(
                logging.INFO,
                "request",
                function=name,
                method=req.method,
                path=path,
                status=status,
                **problem,
                charge_ru=charge_ru,
                duration_ms=round((time.perf_counter() - started) * 1000, 1),
                request_id=context.invocation_id,
            )
        return response

    # The Functions host names a function after its Python function.
    run.__name__ = run.__qualname__ = name
    run.__doc__ = handler.__doc__
    return run


def path_of(request: func.HttpRequest) -> str:
    """The path of the request's URL, encoded, even if the host in it is invalid."""
    return _ORIGIN.sub("", str(request.url), count=1).partition("?")[0]


def _has_valid_host(request: func.HttpRequest) -> bool:
    """Whether the URL, which contains the Host header, can be split. Hosts differ in which headers they accept."""
    try:
        url = urlsplit(str(request.url))
        _ = url.port
    except ValueError:
        return False
    return url.netloc.isascii()


async def _parse(body: type[RequestModel] | None, request: func.HttpRequest) -> Call[Body]:
    """Authenticate the caller of a command, then parse. Unauthenticated callers never learn whether parsing fails.

    Raises Forbidden if the path or body names a user that the caller cannot act as.
    """
    if request.method in QUERY:
        return parse_call(request, body, ANONYMOUS)
    call: Call[Body] = parse_call(request, body, authenticate(request.headers))
    for user_id in (call.path.get("userId"), getattr(call.body, "user_id", None)):
        if user_id is not None:
            require_can_act_as(call.caller, user_id)
    return call


def _log_failure(error: Exception, **fields: Any) -> None:
    if isinstance(error, InternalReason):
        level = logging.WARNING if isinstance(error, DatabaseUnavailable) else logging.ERROR
        log(level, error.event, **fields, reason=error.reason)
    elif isinstance(error, NotAuthenticated):
        log(logging.INFO, "not authenticated", **fields, fault=error.fault)
    elif not isinstance(error, BlogError):
        log(logging.ERROR, "request failed", **fields, exception=error)
