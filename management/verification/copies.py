"""Compare copies with their posts, by fingerprint or field by field."""

from __future__ import annotations

import hashlib
import json

from shared.models.post import Post, short_form
from shared.platform.database.container import Container
from shared.platform.models import Item

# The fields of a short form; a test compares them.
FIELDS = (
    "id",
    "type",
    "userId",
    "userUsername",
    "title",
    "content",
    "commentCount",
    "likeCount",
    "version",
    "creationDate",
    "editedDate",
)


async def wanted_copy(posts: Container, post_id: str) -> Item | None:
    """Return the copy that a post should have. Costs one point read."""
    post = await posts.read(post_id, post_id)
    if post is None or post.get("type") != Post.TYPE:
        return None
    try:
        return short_form(post)
    except (KeyError, TypeError, ValueError):
        return None


def fingerprint(copy: Item) -> bytes:
    text = json.dumps([copy.get(name) for name in FIELDS], sort_keys=True)
    return hashlib.blake2b(text.encode(), digest_size=16).digest()


def differences(copy: Item, wanted: Item) -> list[str]:
    return [
        f"{name} is {_shown(copy.get(name))}, but the post has {_shown(wanted.get(name))}"
        for name in FIELDS
        if not _are_equal(copy.get(name), wanted.get(name))
    ]


def _are_equal(one: object, other: object) -> bool:
    return one == other and isinstance(one, bool) == isinstance(other, bool)


def _shown(value: object) -> str:
    if value is None:
        return "absent"
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 40 else text[:39] + "…"
