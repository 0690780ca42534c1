"""The body of a request, which can be compressed."""

from __future__ import annotations

import zlib
from typing import Final

from aiohttp import web

from cosmos_emulator.errors import CosmosError

_MAX_REQUEST_BYTES: Final = 2 * 1024 * 1024
MAX_READ_BYTES: Final = 16 * 1024 * 1024
"""An oversized body is read up to this size: a client that is still sending would miss the 413."""


async def read_body(http: web.BaseRequest) -> bytes:
    """Return the decompressed body. Raises 400 and 413."""
    try:
        body = await http.read()
    except web.HTTPRequestEntityTooLarge as error:
        raise _too_large() from error
    except (web.RequestPayloadError, ConnectionResetError) as error:
        raise CosmosError(400, f"The request payload is invalid or incomplete: {error}") from error
    if len(body) > _MAX_REQUEST_BYTES:
        raise _too_large()
    encoding = http.headers.get("Content-Encoding", "identity").lower()
    return body if encoding == "identity" else _decompressed(body, encoding)


def _decompressed(body: bytes, encoding: str) -> bytes:
    """Decompress no more than the limit."""
    decompressor = zlib.decompressobj(zlib.MAX_WBITS | 32)  # accepts the headers of gzip and zlib
    try:
        whole = decompressor.decompress(body, _MAX_REQUEST_BYTES + 1) if encoding in ("gzip", "deflate") else b""
    except zlib.error:
        whole = b""
    if len(whole) > _MAX_REQUEST_BYTES:
        raise _too_large()
    if not decompressor.eof or decompressor.unused_data:
        raise CosmosError(400, f"The request payload is invalid or incomplete in the content encoding {encoding!r}.")
    return whole


def _too_large() -> CosmosError:
    return CosmosError(413, "Request size is too large: the maximum is 2 MB.")
