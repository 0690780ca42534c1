"""The `/admin` routes: status, functions, keys, manual trigger, drain.

Rules: azure-functions-host Controllers (FunctionsController.cs, HostController.cs, KeysController.cs) and
Extensions/FunctionMetadataExtensions.cs.
"""

from __future__ import annotations

import json
import re
import time
from pathlib import Path
from typing import Protocol

from aiohttp import web

from ..functions import HTTP, LoadedFunction
from .keys import Keys
from .request_head import RequestHead

_KNOWN = re.compile(
    r"(?:GET|POST) /admin/host/ping"
    r"|GET /admin/host/(?:status|config|drain/status|keys|functionkeys|systemkeys)"
    r"|POST /admin/host/drain|GET /admin/(?:vfs(?:/.*)?|instance/info)"
    r"|GET /admin/functions(?:/[^/]+(?:/status|/keys)?)?|POST /admin/functions/[^/]+",
    re.IGNORECASE,
)
_NO_STORE = {"Cache-Control": "no-store,no-cache", "Pragma": "no-cache"}
# The version of the real host that this host emulates.
_VERSION = "4.1037.0"


class AdministeredHost(Protocol):
    """The part of the host that these routes use. `functions` and `disabled` are by lowercase name."""

    state: str
    app_dir: Path
    script: str
    functions: dict[str, LoadedFunction]
    disabled: dict[str, LoadedFunction]
    is_drained: bool

    async def drain(self) -> None:
        """Stop the listeners permanently."""

    def is_listening(self, function_name: str) -> bool:
        """Return whether a function's trigger is listening."""

    def trigger(self, function: LoadedFunction, payload: str) -> None:
        """Invoke a function in the background. Raises ValueError for an invalid payload."""


class AdminApi:
    """Serves `/admin`. Only `enable_auth` requires the master key, like Core Tools."""

    def __init__(self, host: AdministeredHost, route_prefix: str) -> None:
        self._host = host
        self._prefix = f"/{route_prefix}" if route_prefix else ""
        self._started = time.monotonic()

    async def handle(self, head: RequestHead, content_type: str, body: bytes, keys: Keys | None) -> web.Response:
        """Return the response for a known request."""
        host, base = self._host, f"http://{head.host}"
        every = {**host.functions, **host.disabled}
        match (head.method, *head.path.lower().strip("/").split("/")[1:]):
            case (_, "host", "ping"):
                return web.Response(headers=_NO_STORE)
            case ("GET", "host", "status"):
                return _json(self._status())
            case ("GET", "host", "drain", "status"):
                state = "Completed" if host.is_drained else "Disabled"
                return _json({"state": state, "outstandingInvocations": 0, "outstandingRetries": 0})
            case ("POST", "host", "drain"):
                await host.drain()
                return web.Response(status=202)
            case ("GET", "host", "keys" | "functionkeys"):
                return _json_keys(keys.of_host if keys else [], base + head.path)
            case ("GET", "host", "systemkeys"):
                return _json_keys([], base + head.path)
            case ("GET", "functions"):
                return _json([self._described(every[name], base) for name in sorted(every)])
            case ("GET", "functions", name) if name in every:
                return _json(self._described(every[name], base))
            case ("GET", "functions", name, "status") if name in every:
                # The real host returns {}. Without these members, a client cannot tell whether a trigger is listening.
                is_http = every[name].type == HTTP
                return _json({"isHttp": is_http, "isListening": host.is_listening(every[name].name), "errors": None})
            case ("GET", "functions", name, "keys") if name in every:
                return _json_keys(keys.by_function.get(every[name].name, []) if keys else [], base + head.path)
            case ("GET", "vfs", *_):
                return web.Response(status=403)
            case ("GET", "instance", "info"):
                return _json({"FUNCTIONS_EXTENSION_VERSION": f"{_VERSION}.0", "WEBSITE_NODE_DEFAULT_VERSION": "8.5.0"})
            case ("POST", "functions", name):
                return self._trigger(name, content_type, body)
        return web.Response(status=404)

    def _trigger(self, name: str, content_type: str, body: bytes) -> web.Response:
        if content_type != "application/json":
            return web.Response(status=415)
        try:
            payload = {key.lower(): value for key, value in json.loads(body).items()}.get("input")
        except (ValueError, AttributeError, RecursionError):
            return web.Response(status=400)
        function = self._host.functions.get(name)
        if function is None:
            return web.Response(status=202 if name in self._host.disabled else 404)
        try:
            self._host.trigger(function, payload if isinstance(payload, str) else json.dumps(payload))
        except ValueError as error:
            return web.Response(status=400, text=str(error))
        return web.Response(status=202)

    def _status(self) -> dict[str, object]:
        return {
            "id": "functions-host",
            "state": self._host.state,
            "version": f"{_VERSION}.0",
            "versionDetails": _VERSION,
            "platformVersion": "",
            "instanceId": "",
            "computerName": "",
            "processUptime": int((time.monotonic() - self._started) * 1000),
            "functionAppContentEditingState": "Unknown",
        }

    def _described(self, function: LoadedFunction, base: str) -> dict[str, object]:
        name, script, directory = function.name, f"{self._host.script}.py", str(self._host.app_dir)
        route = function.route if function.type == HTTP else None
        return {
            "name": name,
            "script_root_path_href": None,
            "script_href": f"{base}/admin/vfs{directory}/{script}",
            "config_href": None,
            "test_data_href": f"{base}/admin/vfs{directory}/{name}.dat",
            "href": f"{base}/admin/functions/{name}",
            "invoke_url_template": None if route is None else f"{base}{self._prefix}/{route}".lower(),
            "language": "python",
            "config": {
                "name": name,
                "entryPoint": name,
                "scriptFile": script,
                "language": "python",
                "functionDirectory": directory,
                "bindings": [dict(binding) for binding in function.bindings],
            },
            "files": None,
            "test_data": "",
            "isDisabled": name.lower() in self._host.disabled,
            "isDirect": False,
            "isProxy": False,
        }


def is_known(head: RequestHead) -> bool:
    """Return whether the host answers a request below `/admin/`. The app's routes receive the others."""
    return _KNOWN.fullmatch(f"{head.method.upper()} {head.path.rstrip('/')}") is not None


def is_public(head: RequestHead) -> bool:
    """Return whether a known request never requires a key."""
    return head.path.lower().rstrip("/") == "/admin/host/ping"


def _json(value: object) -> web.Response:
    body = json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode()
    return web.Response(body=body, headers={"Content-Type": "application/json; charset=utf-8"})


def _json_keys(keys: list[dict[str, str]], url: str) -> web.Response:
    return _json({"keys": keys, "links": [{"rel": "self", "href": url}]})
