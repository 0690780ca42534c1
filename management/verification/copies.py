"""Whether a stored copy of a post shows it: by fingerprint where many are compared, field by field where one is."""

from __future__ import annotations

import hashlib
import json

from shared.cosmos import Container
from shared.models.base import Item
from shared.models.post import Post, short_form

# The properties of a short form (shared/models/post.py); a test holds the two together.
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
)


async def wanted_copy(posts: Container, post_id: str) -> Item | None:
    """What a copy of the post must show: one point read. None where there is no such post, or none to copy."""
    post = await posts.read(post_id, post_id)
    if post is None or post["type"] != Post.TYPE:
        return None
    try:
        return short_form(post)
    except (KeyError, TypeError, ValueError):
        return None


def fingerprint(copy: Item) -> bytes:
    """16 bytes that two copies share when all FIELDS are equal."""
    text = json.dumps([copy.get(name) for name in FIELDS], sort_keys=True)
    return hashlib.blake2b(text.encode(), digest_size=16).digest()


def differences(copy: Item, wanted: Item) -> list[str]:
    """Each field of `copy` that is not as in the short form `wanted`, in words."""
    return [
        f"{name} is {_shown(copy.get(name))}, the post says {_shown(wanted[name])}"
        for name in FIELDS
        if copy.get(name) != wanted[name]
    ]


def _shown(value: object) -> str:
    if value is None:
        return "absent"
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 40 else text[:39] + "…"
