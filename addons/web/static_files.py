"""The site's static files. Their URLs contain a hash of all files, so that caches can keep each file for a year.

The files are one directory to the browser: a module imports another by its relative name, without a build step.
"""

from __future__ import annotations

from functools import cache
from hashlib import sha256
from pathlib import Path

from addons.web.extensions import EXTENSIONS
from shared.platform.http.responses import CACHE_FOR_A_YEAR, Response, document_response

_FOLDER = Path(__file__).parent
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


def asset(name: str, version: str) -> Response | None:
    """A static file, or None. A page of another version of the app gets the current file, not to be cached."""
    return _response(name, CACHE_FOR_A_YEAR if version == _version() else "no-cache") if name in _files() else None


@cache
def _response(name: str, cache_control: str) -> Response:
    path = _files()[name]
    return document_response(path.read_bytes(), _MEDIA_TYPES[path.suffix], cache_control=cache_control)


@cache
def _files() -> dict[str, Path]:
    """The files by name. Nothing else is served."""
    folders = [_FOLDER, *(extension.folder for extension in EXTENSIONS)]
    found = sorted(path for folder in folders for path in (folder / "static").rglob("*"))
    return {path.name: path for path in found if path.suffix in _MEDIA_TYPES}


@cache
def _version() -> str:
    hashes = (sha256(path.read_bytes()).hexdigest() for path in _files().values())
    return sha256("".join(hashes).encode()).hexdigest()[:16]
