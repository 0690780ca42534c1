"""Documents: bytes with a version, served compressed and with an ETag. The Functions host does not compress."""

from __future__ import annotations

import gzip
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256

import azure.functions as func

from shared.http.calls import Call
from shared.http.replies import has_already

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
        return gzip.compress(self.content, compresslevel=6, mtime=0)


def served(call: Call[None], document: Document) -> func.HttpResponse:
    """200 with the document, or 304 if If-None-Match names its version."""
    etag = f'"{document.version}{"-gzip" if call.accepts_gzip else ""}"'
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
