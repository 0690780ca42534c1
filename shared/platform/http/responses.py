"""Success responses: a resource, a page of a list, a document, or no content.

The Functions host neither compresses nor compares ETags, so `http_response` does both, for all of them.
"""

from __future__ import annotations

import asyncio
import gzip
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import sha256
from typing import Any
from urllib.parse import quote

import azure.functions as func

from shared.platform.data.pages import Page
from shared.platform.errors import VersionMismatch
from shared.platform.http.calls import GZIP_SUFFIX, Body, Call
from shared.platform.models import Item, Resource

JSON = "application/json"
# A smaller response fits in one packet anyway.
_LEAST_COMPRESSED = 1_000
# About 1 ms.
_MOST_COMPRESSED_IN_LOOP = 32_000
# For URLs that name a version, so that a cached document is never stale.
CACHE_FOR_A_YEAR = "public, max-age=31536000, immutable"
# A page adds its own directives. Icons can be data URIs; all other requests go to the app's own host.
CONTENT_SECURITY_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; font-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; base-uri 'none'; frame-ancestors 'none'"
)


@dataclass(frozen=True)
class Response:
    """A response before its encoding. `etag` is the ETag of the uncompressed content, with its quotation marks."""

    content: bytes = b""
    media_type: str = JSON
    status: int = 200
    etag: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)

    @cached_property
    def compressed(self) -> bytes:
        return gzip.compress(self.content, compresslevel=6, mtime=0)


def resource_response(resource: type[Resource], item: Item, *, location: str = "") -> Response:
    """The resource as it is now: 200, or 201 with its `location`, a path that is not yet encoded, if it is new."""
    status, headers = (201, {"Location": quote(location)}) if location else (200, {})
    return json_response(resource.serialize(item), status=status, etag=resource.entity_tag(item), headers=headers)


def page_response(page: Page[Any], *resources: type[Resource]) -> Response:
    """200 with a page of one or several resources; the last page has no `nextCursor`."""
    by_type = {resource.TYPE: resource for resource in resources}
    values: dict[str, Any] = {"items": [by_type[item["type"]].serialize(item) for item in page.items]}
    if page.next_cursor is not None:
        values["nextCursor"] = str(page.next_cursor)
    return json_response(values)


def json_response(
    values: Mapping[str, Any], *, status: int = 200, etag: str = "", headers: Mapping[str, str] | None = None
) -> Response:
    content = json.dumps(values, ensure_ascii=False, separators=(",", ":")).encode()
    return Response(content, JSON, status, etag, headers or {})


def document_response(
    content: bytes, media_type: str, *, cache_control: str = "no-cache", headers: Mapping[str, str] | None = None
) -> Response:
    """200 with the content, whose hash is its ETag. Keep the response of a document that does not change."""
    etag = f'"{sha256(content).hexdigest()[:16]}"'
    return Response(content, media_type, 200, etag, {"Cache-Control": cache_control} | dict(headers or {}))


def no_content() -> Response:
    return Response(status=204)


async def http_response(response: Response, call: Call[Body]) -> func.HttpResponse:
    """Return the response to this call: compressed if that is worth it, or 304 if If-None-Match of a query names it.

    Raises VersionMismatch if If-Match of a query does not name it.

    A strong ETag names one encoding (https://www.rfc-editor.org/rfc/rfc9110#section-8.8.3.3), so gzip has another one.
    A 304 has the headers and the type of its representation, because a cache replaces the stored ones
    (https://www.rfc-editor.org/rfc/rfc9111#section-3.2).
    """
    headers, content, status = dict(response.headers), response.content, response.status
    is_compressed = call.accepts_gzip and len(content) >= _LEAST_COMPRESSED
    if content:
        headers["Vary"] = "Accept-Encoding"
    if response.etag:
        if call.is_query and call.if_match is not None and response.etag not in call.if_match:
            raise VersionMismatch
        headers["ETag"] = f'{response.etag[:-1]}{GZIP_SUFFIX}"' if is_compressed else response.etag
        if call.is_query and not {"*", headers["ETag"]}.isdisjoint(call.if_none_match):
            return func.HttpResponse(status_code=304, headers=headers, mimetype=response.media_type)
    if is_compressed:
        headers["Content-Encoding"] = "gzip"
        # A hundred long texts take over 100 ms, in which the event loop would serve nobody else.
        in_thread = len(content) > _MOST_COMPRESSED_IN_LOOP
        content = await asyncio.to_thread(getattr, response, "compressed") if in_thread else response.compressed
    return func.HttpResponse(content, status_code=status, headers=headers, mimetype=response.media_type)
