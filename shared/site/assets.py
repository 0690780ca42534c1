"""The site's static files. Their URLs contain a hash of all files, so that caches can keep each file for a year.

The files are one directory to the browser: a module imports another by its relative name, without a build step.
"""

from __future__ import annotations

from functools import cache
from hashlib import sha256
from pathlib import Path

from shared.http.responses import CACHE_FOR_A_YEAR, Document

_WEB = Path(__file__).parents[2] / "web"
_MEDIA_TYPES = {
    ".css": "text/css",
    ".js": "text/javascript",
    ".json": "application/json",
    ".png": "image/png",
    ".svg": "image/svg+xml",
    ".webmanifest": "application/manifest+json",
}


def asset_url(name: str) -> str:
    """The path of a static file. Raises KeyError."""
    return f"/assets/{_version()}/{_files()[name].name}"


def asset(name: str, version: str) -> Document | None:
    """A static file, or None. A page of another version of the app gets the current file, not to be cached."""
    return _document(name, CACHE_FOR_A_YEAR if version == _version() else "no-cache") if name in _files() else None


@cache
def _document(name: str, cache_control: str) -> Document:
    path = _files()[name]
    return Document(path.read_bytes(), _MEDIA_TYPES[path.suffix], cache_control)


@cache
def _files() -> dict[str, Path]:
    """The files by name. Nothing else is served."""
    found = sorted((_WEB / "static").rglob("*"))
    return {path.name: path for path in found if path.suffix in _MEDIA_TYPES}


@cache
def _version() -> str:
    hashes = (sha256(path.read_bytes()).hexdigest() for path in _files().values())
    return sha256("".join(hashes).encode()).hexdigest()[:16]
