"""Routing in function-name order. The first route that matches the path and method wins.

Rules: azure-functions-host WebScriptHostHttpRoutesManager.cs and FunctionMetadataManager.cs, aspnetcore
RouteCollection.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ..errors import FunctionIndexError
from ..function_errors import FunctionErrors
from ..functions import LoadedFunction
from .route_template import RouteTemplate

_RESERVED = ("admin", "runtime")


@dataclass(frozen=True)
class Route:
    """A compiled route. `methods` are uppercase; None means all methods."""

    function: LoadedFunction
    template: RouteTemplate
    methods: frozenset[str] | None


class Router:
    """The routes of an app."""

    def __init__(self, routes: Sequence[Route]) -> None:
        self.routes = routes

    def match(self, method: str, path: str) -> tuple[LoadedFunction, dict[str, str]] | None:
        """Return the function and route values for a path without leading slash, or None."""
        for route in self.routes:
            allowed = route.methods is None or method in route.methods
            if allowed and (values := route.template.match(path)) is not None:
                return route.function, values
        return None


def build_router(functions: Iterable[LoadedFunction], route_prefix: str, errors: FunctionErrors) -> Router:
    """Compile the routes. Invalid ones are added to `errors`."""
    routes: list[Route] = []
    taken: dict[str, list[Route]] = {}
    # .NET compares uppercase letters when it ignores case, so '_' sorts after the letters.
    for function in sorted(functions, key=lambda function: function.name.upper()):
        try:
            route = _route(function, route_prefix)
            same_text = taken.setdefault(_route_text(function).lower(), [])
            _refuse_conflict(route, same_text)
        except FunctionIndexError as error:
            errors.add(function.name, error)
        else:
            same_text.append(route)
            routes.append(route)
    return Router(routes)


def _route(function: LoadedFunction, route_prefix: str) -> Route:
    text = _route_text(function)
    if text.lower().startswith(_RESERVED):
        raise FunctionIndexError(f"route '{text}' must not start with {' or '.join(_RESERVED)}")
    if route_prefix and function.route.startswith("/{*"):
        raise FunctionIndexError(
            f"route '{function.route}' of an ASGI or WSGI app is invalid with the route prefix '{route_prefix}'. Set "
            '"extensions": {"http": {"routePrefix": ""}} in host.json'
        )
    template = RouteTemplate(f"{route_prefix}/{function.route}" if route_prefix else function.route)
    methods = function.trigger.get("methods")
    allowed = frozenset(str(method).upper() for method in methods) if isinstance(methods, list) else None
    return Route(function, template, allowed)


def _route_text(function: LoadedFunction) -> str:
    return function.route.strip("/")


def _refuse_conflict(route: Route, same_text: Iterable[Route]) -> None:
    for other in same_text:
        if route.methods is None or other.methods is None or route.methods & other.methods:
            raise FunctionIndexError(
                f"function '{other.function.name}' already handles a method of route '{route.template.text}'"
            )
