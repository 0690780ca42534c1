"""The description of the API, and the page that shows it.

None of these endpoints is part of the description: they are how one comes to read it.
"""

from __future__ import annotations

import html
import json
from dataclasses import dataclass
from functools import cache, cached_property
from hashlib import sha256
from pathlib import Path

import azure.functions as func

from functions import comments, feed, health, likes, posts, users
from functions.routes import ROUTES
from shared.http.calls import Call
from shared.http.endpoints import Endpoint, Endpoints
from shared.http.openapi import API_PATH, describe, meaning_of
from shared.http.problems import PROBLEMS, UNFORESEEN, Problem
from shared.settings import auth_settings

endpoints = Endpoints("description", ROUTES["description"])

_STATIC = Path(__file__).with_name("static")
_CSS, _JAVASCRIPT, _HTML, _PNG = "text/css", "text/javascript", "text/html", "image/png"
# What the page loads: name in its address, file, media type. Nothing else is served.
_ASSETS = {
    "docs.css": ("docs/docs.css", _CSS),
    "docs.js": ("docs/docs.js", _JAVASCRIPT),
    "favicon-32x32.png": ("swagger-ui/favicon-32x32.png", _PNG),
    "swagger-ui-bundle.js": ("swagger-ui/swagger-ui-bundle.js", _JAVASCRIPT),
    "swagger-ui.css": ("swagger-ui/swagger-ui.css", _CSS),
}

# The page asks each time whether it has changed; its links name the assets' versions, so those need not be asked.
_REVALIDATED = "no-cache"
_KEPT_FOR_A_YEAR = "public, max-age=31536000"

# Swagger UI draws its icons from data URIs; everything else comes from, and goes to, the API's own host.
_CONTENT_SECURITY_POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self' data:",
        "connect-src 'self'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
    )
)


@dataclass(frozen=True)
class Document:
    """Bytes to serve; the entity tag is a hash of them."""

    content: bytes
    media_type: str
    cache_control: str

    @cached_property
    def version(self) -> str:
        return sha256(self.content).hexdigest()[:16]


@endpoints.endpoint(summary="The description of the API", answers=(200, 304))
async def get_openapi(call: Call[None]) -> func.HttpResponse:
    """OpenAPI 3.1, made once per process."""
    return _served(call, openapi_document())


@endpoints.endpoint(summary="The description as an interactive page", answers=(200, 304))
async def get_docs(call: Call[None]) -> func.HttpResponse:
    """Swagger UI, and an explanation of every problem type."""
    response = _served(call, _page())
    response.headers["Content-Security-Policy"] = _CONTENT_SECURITY_POLICY
    response.headers["Referrer-Policy"] = "no-referrer"
    return response


@endpoints.endpoint(summary="What the page loads", answers=(200, 304))
async def get_docs_asset(call: Call[None]) -> func.HttpResponse:
    """Scripts, styles and the icon."""
    name = call.path["asset"]
    if name not in _ASSETS:
        return func.HttpResponse(status_code=404)
    return _served(call, _asset(name))


@cache
def described_endpoints() -> tuple[Endpoint, ...]:
    """Every endpoint that the description is about."""
    resources = (users, posts, comments, likes, feed, health)
    return tuple(endpoint for resource in resources for endpoint in resource.endpoints.described)


@cache
def openapi_document() -> Document:
    """The description, as it is served: of the blog as the settings guard it. Raises SettingsError."""
    text = json.dumps(describe(described_endpoints(), auth_settings()), ensure_ascii=False, separators=(",", ":"))
    return Document(text.encode(), "application/json", _REVALIDATED)


@cache
def _page() -> Document:
    """The page, its links completed with the versions of what they lead to."""
    text = (_STATIC / "docs" / "page.html").read_text(encoding="utf-8")
    for name in _ASSETS:
        link = f'"{API_PATH}/docs/{name}'
        text = text.replace(f'{link}"', f'{link}?v={_asset(name).version}"')
    return Document(text.replace("<!-- problems -->", _problem_list()).encode(), _HTML, _REVALIDATED)


def _problem_list() -> str:
    """The meaning of each problem type, under the fragment to which the type leads."""
    problems = PROBLEMS | {Exception: UNFORESEEN}
    return "\n".join(_problem_entry(problem, meaning_of(error)) for error, problem in problems.items())


def _problem_entry(problem: Problem, meaning: str) -> str:
    fragment = problem.type.partition("#")[2]
    title, meaning = html.escape(problem.title), html.escape(meaning)
    return f'<dt id="{fragment}">{title} <span>{problem.status}</span></dt>\n<dd>{meaning}</dd>'


@cache
def _asset(name: str) -> Document:
    path, media_type = _ASSETS[name]
    return Document((_STATIC / path).read_bytes(), media_type, _KEPT_FOR_A_YEAR)


def _served(call: Call[None], document: Document) -> func.HttpResponse:
    """200 with the document, or 304 where If-None-Match names its version."""
    etag = f'"{document.version}"'
    headers = {"ETag": etag, "Cache-Control": document.cache_control, "X-Content-Type-Options": "nosniff"}
    if "*" in call.if_none_match or etag in (tag.removeprefix("W/") for tag in call.if_none_match):
        return func.HttpResponse(status_code=304, headers=headers)
    return func.HttpResponse(document.content, headers=headers, mimetype=document.media_type, charset="utf-8")
