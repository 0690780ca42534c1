"""Static documents: bytes with a version, served with an ETag."""

from __future__ import annotations

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


def served(call: Call[None], document: Document) -> func.HttpResponse:
    """200 with the document, or 304 if If-None-Match names its version."""
    etag = f'"{document.version}"'
    headers = {"ETag": etag, "Cache-Control": document.cache_control, "X-Content-Type-Options": "nosniff"}
    if has_already(call, etag):
        return func.HttpResponse(status_code=304, headers=headers)
    return func.HttpResponse(document.content, headers=headers, mimetype=document.media_type, charset="utf-8")
