"""The names of those who wrote lately, so that a command by one of them needs no point read of the user first: one
operation less to pay, and one round trip less to wait for.

What is kept may be `KEPT_S` old. That is safe because a name on a post, comment or like is never taken on trust: the
posts feed compares each with the user as he is then and sets it right (shared/propagation/posts.py), as it must for a
rename that comes between the read of a name and the write that carries it. A rename in this process is known at once.
Users are never deleted, so one that existed still does.
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
    """The user as he was at most `KEPT_S` seconds ago; None when he is not remembered."""
    return _kept.get((users, user_id))


def remember(users: Container, user: Item) -> None:
    """Keep the user, unless a later name of his is kept."""
    key = (users, user["id"])
    known = _kept.get(key)
    if known is None or name_version(known) <= name_version(user):
        _kept[key] = user
