"""Success responses: a resource, a page, a document, or no content; compressed, and with ETags.

Database system properties are never included. The Functions host does not compress, so the app does. A strong ETag
names one encoding (https://www.rfc-editor.org/rfc/rfc9110#section-8.8.3.3), so gzip has another one.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from typing import Any

import azure.functions as func

from shared.data.pages import Page
from shared.http.calls import GZIP_SUFFIX, Body, Call
from shared.models.base import Item, Resource

_JSON = "application/json"
# A smaller response fits in one packet anyway.
_WORTH_COMPRESSING = 1_000
# For URLs that name a version, so that a cached document is never stale.
CACHE_FOR_A_YEAR = "public, max-age=31536000, immutable"
# A page adds its own directives. Icons can be data URIs; all other requests go to the app's own host.
CONTENT_SECURITY_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "base-uri 'none'; frame-ancestors 'none'"
)


def current(resource: type[Resource], item: Item) -> func.HttpResponse:
    """200 with the resource as it is now."""
    return answered(shown(resource, item), headers={"ETag": resource.entity_tag(item)})


def created(resource: type[Resource], item: Item, location: str) -> func.HttpResponse:
    return answered(shown(resource, item), 201, {"ETag": resource.entity_tag(item), "Location": location})


def no_content() -> func.HttpResponse:
    return func.HttpResponse(status_code=204)


def paged(resource: type[Resource], page: Page) -> func.HttpResponse:
    """200 with a page; the last page has no `nextCursor`."""
    body: dict[str, Any] = {"items": [shown(resource, item) for item in page.items]}
    if page.next_cursor is not None:
        body["nextCursor"] = str(page.next_cursor)
    return answered(body)


def answered(values: dict[str, Any], status: int = 200, headers: Mapping[str, str] | None = None) -> func.HttpResponse:
    """The values as JSON."""
    text = json.dumps(values, ensure_ascii=False, separators=(",", ":")).encode()
    return func.HttpResponse(text, status_code=status, headers=headers, mimetype=_JSON)


def shown(resource: type[Resource], item: Item) -> dict[str, Any]:
    """Return the resource as JSON values, without system properties and properties that the item does not have."""
    return resource.from_item(item).model_dump(by_alias=True, exclude_none=True)


@dataclass(frozen=True)
class Document:
    content: bytes
    media_type: str
    cache_control: str = "no-cache"

    @cached_property
    def version(self) -> str:
        """Hash of the content, used as the ETag."""
        return sha256(self.content).hexdigest()[:16]

    @cached_property
    def compressed(self) -> bytes:
        return _gzipped(self.content)


def served(call: Call[None], document: Document) -> func.HttpResponse:
    """200 with the document, or 304 if If-None-Match names its version."""
    etag = f'"{document.version}{GZIP_SUFFIX if call.accepts_gzip else ""}"'
    headers = {"ETag": etag, "Cache-Control": document.cache_control, "Vary": "Accept-Encoding"}
    if _is_known(call, etag):
        return _not_modified(headers, document.media_type)
    content = document.content
    if call.accepts_gzip:
        headers["Content-Encoding"], content = "gzip", document.compressed
    return func.HttpResponse(content, headers=headers, mimetype=document.media_type, charset="utf-8")


def encoded(call: Call[Body], response: func.HttpResponse, *, is_query: bool) -> func.HttpResponse:
    """The response of a handler, compressed if it is large JSON; 304 if If-None-Match of a query names its version."""
    content, headers = response.get_body(), response.headers
    if response.mimetype != _JSON or "Content-Encoding" in headers or not content:
        return response
    headers["Vary"] = "Accept-Encoding"
    is_compressed = call.accepts_gzip and len(content) >= _WORTH_COMPRESSING
    if "ETag" in headers:
        if is_compressed:
            headers["ETag"] = f'{headers["ETag"][:-1]}{GZIP_SUFFIX}"'
        if is_query and _is_known(call, headers["ETag"]):
            return _not_modified(headers, _JSON)
    if not is_compressed:
        return response
    headers["Content-Encoding"] = "gzip"
    return func.HttpResponse(_gzipped(content), status_code=response.status_code, headers=headers, mimetype=_JSON)


def _not_modified(headers: Mapping[str, str], media_type: str) -> func.HttpResponse:
    """304 for a representation with these headers and this type.

    Without a type, the library would add `text/plain`, and a cache replaces its stored headers by those of a 304
    (https://www.rfc-editor.org/rfc/rfc9111#section-3.2).
    """
    return func.HttpResponse(status_code=304, headers=headers, mimetype=media_type)


def _is_known(call: Call[Body], etag: str) -> bool:
    return "*" in call.if_none_match or etag in (tag.removeprefix("W/") for tag in call.if_none_match)


def _gzipped(content: bytes) -> bytes:
    return gzip.compress(content, compresslevel=6, mtime=0)
