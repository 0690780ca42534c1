"""Words for addresses: of a post's page, and of a heading in it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final
from unicodedata import normalize
from urllib.parse import quote

_LENGTH: Final = 60
_BETWEEN_WORDS: Final = re.compile(r"[^\w]+|_+")


def slug(text: str) -> str:
    """Return the words of a text in lower case, joined by hyphens, at most 60 characters; empty without words."""
    words = _BETWEEN_WORDS.sub("-", normalize("NFC", text).lower()).strip("-")
    if len(words) > _LENGTH:
        words = words[: _LENGTH + 1].rpartition("-")[0] or words[:_LENGTH]
    # The address of the editor.
    return "edit-" if words == "edit" else words


def post_path(post: Mapping[str, Any]) -> str:
    """Return the canonical path of a post's page, which has the words of its title."""
    path = f"/posts/{quote(post['id'], safe='')}"
    words = slug(post["title"])
    return f"{path}/{quote(words)}" if words else path
