"""`GET /_emulator/health`: readiness, without signatures, charges or faults.

`/ready` and `/alive` are paths of Microsoft's Linux emulator, there on another port.
"""

from __future__ import annotations

from typing import Final

from aiohttp import web

from cosmos_emulator import json_text
from cosmos_emulator.version import __version__

_PATHS: Final = ("/_emulator/health", "/ready", "/alive")


def is_health(raw_path: str) -> bool:
    """Return whether a path is a health check."""
    return raw_path.partition("?")[0].rstrip("/") in _PATHS


def health_response(method: str) -> web.Response:
    """Return 200 with the version; 405 except for GET and HEAD."""
    if method not in ("GET", "HEAD"):
        return web.Response(status=405, text="Use GET to read the health status.", headers={"Allow": "GET, HEAD"})
    body = json_text.dump({"status": "ready", "version": __version__})
    return web.Response(body=body, content_type="application/json", headers={"Cache-Control": "no-store"})
