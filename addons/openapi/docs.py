"""The OpenAPI description and the Swagger UI page, which the description omits."""

from __future__ import annotations

import html
import json
from collections.abc import Callable
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Final

import azure.functions as func

from addons.openapi.description import API_PATH, ApiOperation, describe, known_errors, meaning_of, operations_of
from functions import comments, feed, health, likes, posts, users
from shared.platform.http.calls import QUERY, Call
from shared.platform.http.endpoints import Endpoint
from shared.platform.http.responses import CACHE_FOR_A_YEAR, CONTENT_SECURITY_POLICY, Response, document_response
from shared.platform.settings import app_settings

bp = func.Blueprint()

DESCRIBED: Final[list[ModuleType]] = [users, posts, comments, likes, feed, health]
# The tags of the head and the header of the page, which the last of these returns.
FRAMES: Final[list[Callable[[str], tuple[str, str]]]] = []

_STATIC = Path(__file__).with_name("static")
# Nothing else in the directory is served. Key: last segment of the URL.
_ASSETS = {
    "docs.css": ("docs/docs.css", "text/css"),
    "docs.js": ("docs/docs.js", "text/javascript"),
    "swagger-ui-bundle.js": ("swagger-ui/swagger-ui-bundle.js", "text/javascript"),
    "swagger-ui.css": ("swagger-ui/swagger-ui.css", "text/css"),
}


@bp.route(route="api/openapi.json", methods=QUERY, auth_level=func.AuthLevel.ANONYMOUS)
@Endpoint()
async def get_openapi(_call: Call[None]) -> Response:
    """Retrieve the OpenAPI description."""
    return openapi_document()


@bp.route(route="api/docs", methods=QUERY, auth_level=func.AuthLevel.ANONYMOUS)
@Endpoint()
async def get_docs(_call: Call[None]) -> Response:
    """Open Swagger UI, with an explanation of every problem type."""
    return _page()


@bp.route(route="api/docs/{asset}", methods=QUERY, auth_level=func.AuthLevel.ANONYMOUS)
@Endpoint()
async def get_docs_asset(call: Call[None]) -> Response:
    """Load a script or a style sheet of the page."""
    name = call.path["asset"]
    if name not in _ASSETS:
        return Response(status=404, media_type="text/plain")
    current = _asset(name, CACHE_FOR_A_YEAR)
    # A page of another version of the app gets the current asset, not to be cached.
    return current if current.etag == f'"{call.params.get("v")}"' else _asset(name, "no-cache")


@cache
def operations() -> tuple[ApiOperation, ...]:
    """The operations that the description covers."""
    return tuple(operations_of(*DESCRIBED))


@cache
def openapi_document() -> Response:
    """The description for the current authentication mode. Raises SettingsError."""
    text = json.dumps(describe(operations(), app_settings().auth), ensure_ascii=False, separators=(",", ":"))
    return document_response(text.encode(), "application/json")


@cache
def _page() -> Response:
    text = (_STATIC / "docs" / "page.html").read_text(encoding="utf-8")
    title = html.escape(app_settings().title)
    head, header = FRAMES[-1](f"{API_PATH}/docs") if FRAMES else ("", f'<header><a href="/">← {title}</a></header>')
    for name, part in {"title": title, "head": head, "header": header}.items():
        text = text.replace(f"<!-- {name} -->", part)
    for name in _ASSETS:
        link, version = f'"{API_PATH}/docs/{name}', _asset(name, CACHE_FOR_A_YEAR).etag.strip('"')
        text = text.replace(f'{link}"', f'{link}?v={version}"')
    problems = "\n".join(
        f'<dt id="{error.problem.code}">{html.escape(error.problem.title)} <span>{error.problem.status}</span></dt>\n'
        f"<dd>{html.escape(meaning_of(error))}</dd>"
        for error in sorted(known_errors(), key=lambda error: error.problem.status)
    )
    headers = {
        "Content-Security-Policy": f"{CONTENT_SECURITY_POLICY}; form-action 'none'",
        "Referrer-Policy": "no-referrer",
    }
    return document_response(text.replace("<!-- problems -->", problems).encode(), "text/html", headers=headers)


@cache
def _asset(name: str, cache_control: str) -> Response:
    path, media_type = _ASSETS[name]
    return document_response((_STATIC / path).read_bytes(), media_type, cache_control=cache_control)
