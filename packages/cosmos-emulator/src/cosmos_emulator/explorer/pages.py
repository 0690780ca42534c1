"""GET /_explorer/…: the files of the data explorer, and what a browser may do with them."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Final

from aiohttp import web

_ROOT: Final = "/_explorer"
_STATIC: Final = Path(__file__).with_name("static")
_INDEX: Final = "index.html"
_MEDIA_TYPES: Final = {
    ".css": "text/css; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}
# Everything from here and nothing inline; data cannot become markup or script, even by a mistake of the page's own.
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
    "Cache-Control": "no-store",
}


def is_explorer(raw_path: str) -> bool:
    """Whether a request is for the explorer; no resource of the service has a path like these."""
    path = raw_path.partition("?")[0]
    return path == _ROOT or path.startswith(f"{_ROOT}/")


def explorer_page(method: str, raw_path: str) -> web.Response:
    """One of the explorer's files; 405 for anything but GET and HEAD, 404 for a name that is none of them."""
    if method not in ("GET", "HEAD"):
        return web.Response(status=405, text="The explorer's files can only be read.", headers={"Allow": "GET, HEAD"})
    path = raw_path.partition("?")[0]
    if path == _ROOT:
        return web.Response(status=308, headers={"Location": f"{_ROOT}/"})
    name = path.removeprefix(f"{_ROOT}/") or _INDEX
    content = _files().get(name)
    if content is None:
        return web.Response(status=404, text="The explorer has no such file.")
    return web.Response(body=content, headers={**_HEADERS, "Content-Type": _MEDIA_TYPES[Path(name).suffix]})


@cache
def _files() -> dict[str, bytes]:
    """Every file by its name, read when the first one is asked for: no path of a request reaches the disk."""
    return {path.name: path.read_bytes() for path in _STATIC.iterdir() if path.suffix in _MEDIA_TYPES}
