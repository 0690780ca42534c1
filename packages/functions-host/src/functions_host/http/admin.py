"""The host's own routes under `/admin`: status, function list, manual trigger, drain.

Rules: azure-functions-host Controllers/FunctionsController.cs and HostController.cs.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping
from typing import Protocol

from aiohttp import web

from ..functions import HTTP, LoadedFunction

Handler = Callable[[str, bytes], Awaitable[web.Response]]


class AdminBackend(Protocol):
    """What the admin routes need of the host."""

    @property
    def functions(self) -> Mapping[str, LoadedFunction]:
        """The functions by lower-case name."""

    @property
    def state(self) -> str:
        """`Running`, `Stopping`…"""

    def is_listening(self, function_name: str) -> bool:
        """Whether a function's trigger listens (always, for HTTP)."""

    def trigger(self, function: LoadedFunction, given: str) -> None:
        """Invoke a function in the background with an input text; ValueError when the text does not fit."""

    async def drain(self) -> None:
        """Stop the listeners but let what runs finish and count."""


class AdminApi:
    """Answers `/admin/...`; every caller is trusted, as with Core Tools."""

    def __init__(self, backend: AdminBackend) -> None:
        self._backend = backend

    async def answer(self, method: str, path: str, body: bytes) -> web.Response:
        """The response for a path that begins with `admin/`."""
        match (method, *path.lower().strip("/").split("/")):
            case ("GET", "admin", "host", "status"):
                return _json({"id": "functions-host", "state": self._backend.state, "version": "4"})
            case ("GET" | "POST", "admin", "host", "ping"):
                return web.Response()
            case ("POST", "admin", "host", "drain"):
                await self._backend.drain()
                return web.Response(status=202)
            case ("GET", "admin", "functions"):
                return _json([self._described(function) for function in self._backend.functions.values()])
            case ("GET", "admin", "functions", name) if function := self._backend.functions.get(name):
                return _json(self._described(function))
            case ("GET", "admin", "functions", name, "status") if function := self._backend.functions.get(name):
                listening = self._backend.is_listening(function.name)
                return _json({"isHttp": function.type == HTTP, "isListening": listening, "errors": None})
            case ("POST", "admin", "functions", name) if function := self._backend.functions.get(name):
                return self._trigger(function, body)
        return web.Response(status=404)

    def _trigger(self, function: LoadedFunction, body: bytes) -> web.Response:
        if not body:
            return web.Response(status=400)
        try:
            given = json.loads(body).get("input")
            text = given if isinstance(given, str) else json.dumps(given)
            self._backend.trigger(function, text)
        except (ValueError, AttributeError, RecursionError) as error:
            return web.Response(status=400, text=f'expected {{"input": "..."}}: {error}')
        return web.Response(status=202)

    def _described(self, function: LoadedFunction) -> dict[str, object]:
        return {"name": function.name, "config": {"bindings": [dict(binding) for binding in function.bindings]}}


def _json(value: object) -> web.Response:
    return web.json_response(value)
