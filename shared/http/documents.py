"""Compression, because the Functions host does not compress. Documents: bytes with a version, served with an ETag.

A strong ETag names one encoding (https://www.rfc-editor.org/rfc/rfc9110#section-8.8.3.3), so gzip has another one.
"""

from __future__ import annotations

import gzip
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256

import azure.functions as func

from shared.http.calls import GZIP_SUFFIX, Body, Call
from shared.http.replies import has_already

_JSON = "application/json"
# A smaller response fits in one packet anyway.
_WORTH_COMPRESSING = 1_000
# For URLs that name a version, so that a cached document is never stale.
CACHE_FOR_A_YEAR = "public, max-age=31536000, immutable"


@dataclass(frozen=True)
class Document:
    """Bytes to serve."""

    content: bytes
    media_type: str
    cache_control: str = "no-cache"

    @cached_property
    def version(self) -> str:
        """Hash of the content, used as the ETag."""
        return sha256(self.content).hexdigest()[:16]

    @cached_property
    def compressed(self) -> bytes:
        """The content as gzip."""
        return _gzipped(self.content)


def served(call: Call[None], document: Document) -> func.HttpResponse:
    """200 with the document, or 304 if If-None-Match names its version."""
    etag = f'"{document.version}{GZIP_SUFFIX if call.accepts_gzip else ""}"'
    headers = {
        "ETag": etag,
        "Cache-Control": document.cache_control,
        "Vary": "Accept-Encoding",
    }
    if has_already(call, etag):
        return func.HttpResponse(status_code=304, headers=headers)
    content = document.content
    if call.accepts_gzip:
        headers["Content-Encoding"], content = "gzip", document.compressed
    return func.HttpResponse(content, headers=headers, mimetype=document.media_type, charset="utf-8")


def encoded(call: Call[Body], response: func.HttpResponse, *, is_query: bool) -> func.HttpResponse:
    """The response, compressed if it is large JSON and the client accepts gzip. A query can become 304."""
    content, headers = response.get_body(), response.headers
    if response.mimetype != _JSON or "Content-Encoding" in headers or not content:
        return response
    headers["Vary"] = "Accept-Encoding"
    if not call.accepts_gzip or len(content) < _WORTH_COMPRESSING:
        return response
    headers["Content-Encoding"] = "gzip"
    if "ETag" in headers:
        headers["ETag"] = f'{headers["ETag"][:-1]}{GZIP_SUFFIX}"'
        if is_query and has_already(call, headers["ETag"]):
            del headers["Content-Encoding"]
            return func.HttpResponse(status_code=304, headers=headers)
    return func.HttpResponse(_gzipped(content), status_code=response.status_code, headers=headers, mimetype=_JSON)


def _gzipped(content: bytes) -> bytes:
    return gzip.compress(content, compresslevel=6, mtime=0)
