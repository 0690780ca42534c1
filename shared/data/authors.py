"""A cache of users who wrote recently, which saves a point read and a round trip per command.

A cached username may be up to `KEPT_S` seconds stale. The posts change feed corrects it on each item
(shared/propagation/posts.py), as it must for any rename between the read of a username and the write of an item.
Renames in this process update the cache. Users are never deleted.
"""

from __future__ import annotations

from cachetools import TTLCache

from shared.cosmos import Container
from shared.models.base import Item
from shared.models.user import name_version

KEPT_S = 10.0
_MOST = 10_000

_kept: TTLCache[tuple[Container, str], Item] = TTLCache(maxsize=_MOST, ttl=KEPT_S)


def recall(users: Container, user_id: str) -> Item | None:
    """Return the cached user, at most `KEPT_S` seconds stale, or None."""
    return _kept.get((users, user_id))


def remember(users: Container, user: Item) -> None:
    """Cache the user, unless a later username of theirs is cached."""
    key = (users, user["id"])
    known = _kept.get(key)
    if known is None or name_version(known) <= name_version(user):
        _kept[key] = user
