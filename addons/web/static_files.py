"""The site's static files. Their URLs contain a hash of all files, so that caches can keep each file for a year.

The files are one directory to the browser: a module imports another by its relative name, without a build step.
"""

from __future__ import annotations

import json
from functools import cache
from hashlib import sha256
from pathlib import Path

from addons.web.extensions import EXTENSIONS
from addons.web.settings import DEFAULT_ACCENT, web_settings
from shared.platform.http.responses import CACHE_FOR_A_YEAR, Response, document_response

_FOLDER = Path(__file__).parent
_MEDIA_TYPES = {
    ".css": "text/css",
    ".js": "text/javascript",
    ".json": "application/json",
    ".png": "image/png",
    ".svg": "image/svg+xml",
    ".webmanifest": "application/manifest+json",
    ".woff2": "font/woff2",
}


def asset_url(name: str) -> str:
    """The path of a static file. Raises KeyError."""
    return f"/assets/{_version()}/{_files()[name].name}"


def asset(name: str, version: str) -> Response | None:
    """A static file, or None. A page of another version of the app gets the current file, not to be cached."""
    return _response(name, CACHE_FOR_A_YEAR if version == _version() else "no-cache") if name in _files() else None


@cache
def _response(name: str, cache_control: str) -> Response:
    return document_response(_content(name), _MEDIA_TYPES[_files()[name].suffix], cache_control=cache_control)


@cache
def _content(name: str) -> bytes:
    """A file, with the title and the color that the owner has chosen: the pages' policy forbids inline styles."""
    content = _files()[name].read_bytes()
    if name == "site.css":
        return content.replace(DEFAULT_ACCENT.encode(), web_settings().accent.encode())
    if name == "site.webmanifest":
        title = web_settings().title
        return json.dumps(json.loads(content) | {"name": title, "short_name": title}).encode()
    return content


@cache
def _files() -> dict[str, Path]:
    """The files by name. Nothing else is served."""
    folders = [_FOLDER, *(extension.folder for extension in EXTENSIONS)]
    found = sorted(path for folder in folders for path in (folder / "static").rglob("*"))
    return {path.name: path for path in found if path.suffix in _MEDIA_TYPES}


@cache
def _version() -> str:
    hashes = (sha256(_content(name)).hexdigest() for name in _files())
    return sha256("".join(hashes).encode()).hexdigest()[:16]
