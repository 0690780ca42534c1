"""The `/admin` routes: status, functions, manual trigger, drain.

Rules: azure-functions-host Controllers/FunctionsController.cs and HostController.cs.
"""

from __future__ import annotations

import json
from typing import Protocol

from aiohttp import web

from ..functions import HTTP, LoadedFunction


class AdministeredHost(Protocol):
    """The host, as far as these routes use it."""

    state: str
    functions: dict[str, LoadedFunction]

    async def drain(self) -> None:
        """Stop the listeners permanently."""

    def is_listening(self, function_name: str) -> bool:
        """Return whether a function's trigger is listening."""

    def trigger(self, function: LoadedFunction, payload: str) -> None:
        """Invoke a function in the background. Raises ValueError for an invalid payload."""


class AdminApi:
    """Serves `/admin`. Only `enable_auth` requires the master key, like Core Tools."""

    def __init__(self, host: AdministeredHost) -> None:
        self._host = host

    async def handle(self, method: str, path: str, body: bytes) -> web.Response:
        """Return the response for a path below `admin/`."""
        match (method, *path.lower().strip("/").split("/")):
            case ("GET", "admin", "host", "status"):
                return _json({"id": "functions-host", "state": self._host.state, "version": "4"})
            case ("GET" | "POST", "admin", "host", "ping"):
                return web.Response()
            case ("POST", "admin", "host", "drain"):
                await self._host.drain()
                return web.Response(status=202)
            case ("GET", "admin", "functions"):
                return _json([self._described(function) for function in self._host.functions.values()])
            case ("GET", "admin", "functions", name) if function := self._host.functions.get(name):
                return _json(self._described(function))
            case ("GET", "admin", "functions", name, "status") if function := self._host.functions.get(name):
                listening = self._host.is_listening(function.name)
                return _json({"isHttp": function.type == HTTP, "isListening": listening, "errors": None})
            case ("POST", "admin", "functions", name) if function := self._host.functions.get(name):
                return self._trigger(function, body)
        return web.Response(status=404)

    def _trigger(self, function: LoadedFunction, body: bytes) -> web.Response:
        if not body:
            return web.Response(status=400)
        try:
            payload = json.loads(body).get("input")
            self._host.trigger(function, payload if isinstance(payload, str) else json.dumps(payload))
        except (ValueError, AttributeError, RecursionError) as error:
            return web.Response(status=400, text=f'expected {{"input": "..."}}: {error}')
        return web.Response(status=202)

    def _described(self, function: LoadedFunction) -> dict[str, object]:
        return {"name": function.name, "config": {"bindings": [dict(binding) for binding in function.bindings]}}


def is_public(path: str) -> bool:
    """Return whether a path below `admin/` never requires a key."""
    return path.lower().strip("/") == "admin/host/ping"


def _json(value: object) -> web.Response:
    return web.json_response(value)
