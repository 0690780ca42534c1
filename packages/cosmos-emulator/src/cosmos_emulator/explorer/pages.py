"""Serve the data explorer's files with a strict Content-Security-Policy."""

from __future__ import annotations

from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Final

from aiohttp import web

_ROOT: Final = "/_explorer"
_STATIC: Final = Path(__file__).with_name("static")
_INDEX: Final = "index.html"
_CERTIFICATE: Final = "emulator.pem"
_MEDIA_TYPES: Final = {
    ".css": "text/css; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}
# Only the same origin, nothing inline. Trusted Types keep data from becoming markup, even if the page has a bug.
_POLICY: Final = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self'",
        "connect-src 'self'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
        "require-trusted-types-for 'script'",
        "trusted-types 'none'",
    )
)
_HEADERS: Final = {
    "Content-Security-Policy": _POLICY,
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}
_CACHE_FOR_A_YEAR: Final = "public, max-age=31536000, immutable"


def is_explorer(raw_path: str) -> bool:
    """Return whether a path belongs to the explorer."""
    if not raw_path.startswith(_ROOT):
        return False
    path = raw_path.partition("?")[0]
    return path == _ROOT or path.startswith(f"{_ROOT}/")


def explorer_page(method: str, raw_path: str, certificate: bytes | None) -> web.Response:
    """Return a file of the explorer; 404 for unknown names, 405 except for GET and HEAD.

    As in Microsoft's emulators, `emulator.pem` is the certificate of https.
    """
    if method not in ("GET", "HEAD"):
        return web.Response(
            status=405, text="The data explorer supports only GET and HEAD.", headers={"Allow": "GET, HEAD"}
        )
    path = raw_path.partition("?")[0]
    if path == _ROOT:
        return web.Response(status=308, headers={"Location": f"{_ROOT}/"})
    address = path.removeprefix(f"{_ROOT}/")
    name = address.removeprefix(f"{_version()}/") or _INDEX
    if name == _CERTIFICATE and certificate is not None:
        return web.Response(body=certificate, content_type="application/x-pem-file")
    content = _files().get(name)
    if content is None:
        return web.Response(status=404, text="The data explorer has no file with this name.")
    if name == _INDEX:
        content = content.replace(b"{version}", _version().encode())
    caching = _CACHE_FOR_A_YEAR if address == f"{_version()}/{name}" else "no-store"
    headers = {**_HEADERS, "Cache-Control": caching, "Content-Type": _MEDIA_TYPES[Path(name).suffix]}
    return web.Response(body=content, headers=headers)


@cache
def _version() -> str:
    """Hash of all files. Links name it as a folder, so that modules import each other from the same version."""
    return sha256(b"".join(content for _, content in sorted(_files().items()))).hexdigest()[:16]


@cache
def _files() -> dict[str, bytes]:
    # In memory, so request paths never reach the file system.
    return {path.name: path.read_bytes() for path in _STATIC.iterdir() if path.suffix in _MEDIA_TYPES}
