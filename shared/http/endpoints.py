"""The decorator that turns a handler into an HTTP function."""

from __future__ import annotations

import asyncio
import inspect
import logging
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from urllib.parse import urlsplit

import azure.functions as func
from pydantic import BaseModel

from shared.auth.authentication import authenticate
from shared.auth.callers import ANONYMOUS
from shared.charges import Charge, metered
from shared.errors import BlogError, DatabaseUnavailable, NotAuthenticated
from shared.http.calls import Body, Call, parse_call
from shared.http.problems import problem_response
from shared.logs import log, traced
from shared.models.base import RequestModel
from shared.patience import patience
from shared.retries import REQUEST_DEADLINE_S, THROTTLED_S

Handler = Callable[[Call[Body]], Awaitable[func.HttpResponse]]
HttpFunction = Callable[[func.HttpRequest], Awaitable[func.HttpResponse]]


@dataclass(frozen=True)
class Endpoint:
    """What OpenAPI shows about a handler besides its route.

    `statuses` are the success statuses. `returns` is the model of the response: one resource, a page (`paged`), or a
    cached list (`listed`). `errors` are specific to this endpoint.
    """

    name: str
    summary: str
    description: str
    statuses: tuple[int, ...]
    body: type[RequestModel] | None = None
    returns: type[BaseModel] | None = None
    paged: bool = False
    listed: bool = False
    errors: tuple[type[BlogError], ...] = ()


def endpoint(
    *,
    statuses: tuple[int, ...],
    body: type[RequestModel] | None = None,
    returns: type[BaseModel] | None = None,
    paged: bool = False,
    listed: bool = False,
    errors: tuple[type[BlogError], ...] = (),
) -> Callable[[Handler[Body]], HttpFunction]:
    """Decorate a handler; place the route above. See Endpoint for the arguments.

    The function authenticates commands, parses the request, maps errors to problem details, reports the request
    charge, and logs one line. The handler's docstring becomes the operation's summary and description.
    """

    def decorate(handler: Handler[Body]) -> HttpFunction:
        summary, _, description = (inspect.getdoc(handler) or "").partition("\n\n")
        described = Endpoint(
            name=handler.__name__,
            summary=summary.rstrip("."),
            description=" ".join(description.split()),
            statuses=statuses,
            body=body,
            returns=returns,
            paged=paged,
            listed=listed,
            errors=errors,
        )
        return _http_function(described, handler)

    return decorate


def endpoint_of(function: Callable[..., object]) -> Endpoint:
    """The declaration of a decorated handler."""
    found: Endpoint = vars(function)["endpoint"]
    return found


def _http_function(endpoint: Endpoint, handler: Handler[Body]) -> HttpFunction:
    async def run(req: func.HttpRequest) -> func.HttpResponse:
        started = time.perf_counter()
        with traced(req.headers.get("traceparent")), metered() as charge, patience(THROTTLED_S):
            try:
                # After the deadline the client gets 503. Writes that the database has applied are kept.
                async with asyncio.timeout(REQUEST_DEADLINE_S):
                    response = await handler(await _parse(endpoint, req))
            except Exception as error:  # noqa: BLE001 - the edge: maps every failure to a response
                response = _failure(endpoint, req, error)
            if charge.answers:
                response.headers["x-ms-request-charge"] = f"{charge.request_units:.2f}"
            _log_request(endpoint, response.status_code, charge, time.perf_counter() - started)
        return response

    # The Functions host names a function after its Python function.
    run.__name__ = run.__qualname__ = endpoint.name
    vars(run)["endpoint"] = endpoint
    return run


async def _parse(endpoint: Endpoint, request: func.HttpRequest) -> Call[Body]:
    """Authenticate the caller of a command, then parse. Unauthenticated callers never learn whether parsing fails."""
    if request.method == "GET":
        return parse_call(request, endpoint.body, ANONYMOUS)
    call: Call[Body] = parse_call(request, endpoint.body, await authenticate(request.headers))
    call.require_own_user()
    return call


def _failure(endpoint: Endpoint, request: func.HttpRequest, error: Exception) -> func.HttpResponse:
    if isinstance(error, TimeoutError):
        error = DatabaseUnavailable(f"no answer within {REQUEST_DEADLINE_S:.0f} s")
    if isinstance(error, DatabaseUnavailable):
        log(logging.WARNING, "database unavailable", function=endpoint.name, reason=error.reason)
    elif isinstance(error, NotAuthenticated):
        log(logging.INFO, "not authenticated", function=endpoint.name, fault=error.fault)
    elif not isinstance(error, BlogError):
        log(logging.ERROR, "request failed", function=endpoint.name, exception=error)
    return problem_response(error, urlsplit(request.url).path)


def _log_request(endpoint: Endpoint, status: int, charge: Charge, seconds: float) -> None:
    log(
        logging.INFO,
        "request",
        function=endpoint.name,
        status=status,
        charge_ru=round(charge.request_units, 2),
        duration_ms=round(seconds * 1000, 1),
    )
