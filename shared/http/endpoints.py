"""Endpoints: an HTTP function and its description, declared in one place so that they cannot drift apart."""

from __future__ import annotations

import asyncio
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
from shared.errors import BlogError, DatabaseUnavailable, NotAuthenticated
from shared.http.calls import Body, Call, parse_call, refuse_acting_as_another
from shared.http.problems import problem_response
from shared.logs import log, traced
from shared.models.base import RequestModel
from shared.patience import patience
from shared.retries import REQUEST_DEADLINE_S, THROTTLED_S
from shared.settings import AuthSettings

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
    """The endpoints of one resource: `described` is what the API's description makes of them."""

    tag: str
    described: list[Endpoint] = field(default_factory=list)
    _functions: list[HttpFunction] = field(default_factory=list)

    def blueprint(self, auth: AuthSettings) -> func.Blueprint:
        """The functions for the app to register. Queries are open; commands need a function key, which the host checks,
        unless users sign in: then who they are is checked before anything else."""
        commands = func.AuthLevel.ANONYMOUS if auth.users_sign_in else func.AuthLevel.FUNCTION
        blueprint = func.Blueprint()
        for endpoint, function in zip(self.described, self._functions, strict=True):
            level = commands if endpoint.is_command else func.AuthLevel.ANONYMOUS
            blueprint.route(route=endpoint.route, methods=[endpoint.method], auth_level=level)(function)
        return blueprint

    def endpoint(
        self,
        method: str,
        route: str,
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
        """Make the decorated handler an HTTP function under its own name."""

        def register(handler: Handler[Body]) -> HttpFunction:
            described = Endpoint(
                name=handler.__name__,
                method=method,
                route=route,
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
            function = _http_function(described, handler)
            self._functions.append(function)
            return function

        return register


def _http_function(endpoint: Endpoint, handler: Handler[Body]) -> HttpFunction:
    """The function that the host calls: it measures, parses, answers every error, and logs one line."""

    async def run(req: func.HttpRequest) -> func.HttpResponse:
        started = time.perf_counter()
        with traced(req.headers.get("traceparent")), metered() as charge, patience(THROTTLED_S):
            try:
                # A client waits no longer; what the database has applied by then stays applied.
                async with asyncio.timeout(REQUEST_DEADLINE_S):
                    response = await handler(await _admitted(endpoint, req))
            except Exception as error:  # noqa: BLE001 - the edge: every failure becomes an answer, here and nowhere else
                response = _failure(endpoint, req, error)
            if charge.answers:
                response.headers["x-ms-request-charge"] = f"{charge.request_units:.2f}"
            _log_request(endpoint, response.status_code, charge, time.perf_counter() - started)
        return response

    # The name and module are the handler's; the signature, which the worker checks, is run's own.
    run.__name__, run.__qualname__, run.__module__ = handler.__name__, handler.__qualname__, handler.__module__
    run.__annotations__ = {"req": func.HttpRequest, "return": func.HttpResponse}
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
