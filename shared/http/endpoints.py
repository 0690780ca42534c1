"""Endpoints: an HTTP function and its description, declared in one place so that they cannot drift apart."""

from __future__ import annotations

import logging
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from urllib.parse import urlsplit

import azure.functions as func
from pydantic import BaseModel

from shared.auth.authentication import authenticate
from shared.auth.callers import NOBODY
from shared.charges import Charge, metered
from shared.deadline import deadline
from shared.errors import BlogError, DatabaseUnavailable, NotAuthenticated
from shared.http.calls import Body, Call, parse_call, refuse_acting_as_another
from shared.http.problems import problem_response
from shared.http.route import Route
from shared.logs import log, traced
from shared.models.base import RequestModel
from shared.retries import REQUEST_DEADLINE_S

Handler = Callable[[Call[Body]], Awaitable[func.HttpResponse]]
HttpFunction = Callable[[func.HttpRequest], Awaitable[func.HttpResponse]]


@dataclass(frozen=True)
class Endpoint:
    """What the API's description says of one endpoint.

    `answers` are the successful statuses in the order of their likelihood; `resource` is what they carry, one, a page
    (`paged`) or a list (`listed`) of it, nothing where it is None; `shared` where one answer serves many for a while.
    `refusals` are the errors of the blog that are its
    own, besides those that every endpoint of its kind can have.
    """

    name: str
    method: str
    route: str
    summary: str
    description: str
    tag: str
    answers: tuple[int, ...]
    body: type[RequestModel] | None = None
    resource: type[BaseModel] | None = None
    listed: bool = False
    paged: bool = False
    shared: bool = False
    refusals: tuple[type[BlogError], ...] = ()

    @property
    def is_command(self) -> bool:
        return self.method != "GET"


@dataclass
class Endpoints:
    """The endpoints of one resource, at `routes`: `described` is what the API's description makes of them."""

    tag: str
    routes: tuple[Route, ...]
    described: list[Endpoint] = field(default_factory=list)

    def endpoint(
        self,
        *,
        summary: str,
        answers: tuple[int, ...],
        body: type[RequestModel] | None = None,
        resource: type[BaseModel] | None = None,
        listed: bool = False,
        paged: bool = False,
        shared: bool = False,
        refusals: tuple[type[BlogError], ...] = (),
    ) -> Callable[[Handler[Body]], HttpFunction]:
        """Make the decorated handler the function that answers at the route of its name."""

        def register(handler: Handler[Body]) -> HttpFunction:
            route = next(route for route in self.routes if route.function == handler.__name__)
            described = Endpoint(
                name=handler.__name__,
                method=route.method,
                route=route.path,
                summary=summary,
                description=" ".join((handler.__doc__ or "").split()),
                tag=self.tag,
                answers=answers,
                body=body,
                resource=resource,
                listed=listed,
                paged=paged,
                shared=shared,
                refusals=refusals,
            )
            self.described.append(described)
            return _http_function(described, handler)

        return register


def _http_function(endpoint: Endpoint, handler: Handler[Body]) -> HttpFunction:
    """What answers a request: it measures, parses, answers every error, and logs one line."""

    async def run(req: func.HttpRequest) -> func.HttpResponse:
        started = time.perf_counter()
        with traced(req.headers.get("traceparent")), metered() as charge:
            try:
                # A client waits no longer; what the database has applied by then stays applied.
                async with deadline(REQUEST_DEADLINE_S):
                    response = await handler(await _admitted(endpoint, req))
            except Exception as error:  # noqa: BLE001 - the edge: every failure becomes an answer, here and nowhere else
                response = _failure(endpoint, req, error)
            if charge.answers:
                response.headers["x-ms-request-charge"] = f"{charge.request_units:.2f}"
            _log_request(endpoint, response.status_code, charge, time.perf_counter() - started)
        return response

    return run


async def _admitted(endpoint: Endpoint, request: func.HttpRequest) -> Call[Body]:
    """The request, parsed, of a caller who may send it. Who he is comes first: one whom nobody knows learns nothing,
    not even whether his request would have been well-formed. What he may do on what is stored is for the handler to
    ask."""
    if not endpoint.is_command:
        return parse_call(request, endpoint.body, NOBODY)
    call: Call[Body] = parse_call(request, endpoint.body, await authenticate(request.headers))
    refuse_acting_as_another(call)
    return call


def _failure(endpoint: Endpoint, request: func.HttpRequest, error: Exception) -> func.HttpResponse:
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
