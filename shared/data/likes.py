"""Likes: create, delete, list. They are in the logical partition of their post, one per user."""

from __future__ import annotations

from collections.abc import Collection
from contextlib import suppress

from shared.data.blog import Blog
from shared.data.posts import list_responses
from shared.data.users import get_user
from shared.models.like import Like, NewLike, like_item
from shared.platform.data.pages import Cursor, Page
from shared.platform.database.container import Container
from shared.platform.database.refusals import ItemExists
from shared.platform.database.retries import ENTRY_ATTEMPTS
from shared.platform.errors import DatabaseUnavailable
from shared.platform.models import Item, now
from shared.platform.telemetry import trace_property
from shared.transactions.batches import remove_item


async def create_like(blog: Blog, post_id: str, new: NewLike) -> tuple[Item, bool]:
    """C4: a point read of the user and one transaction. Return the like, and whether it is new.

    A like has the ID of its user, so a retry needs no idempotency key: it returns the existing like, which counts once.
    A retry that arrives after an unlike likes again. Raises UserNotFound, PostNotFound.
    """
    like = like_item(post_id, await get_user(blog.users, new.user_id), now()) | trace_property()
    for _ in range(ENTRY_ATTEMPTS):
        with suppress(ItemExists):
            return await blog.transactions.add(blog.posts, like, None), True
        existing = await blog.posts.read(like["id"], post_id)
        if existing is not None:  # or else it has been removed since
            return existing, False
    raise DatabaseUnavailable(f"a like of post {post_id} was created and removed at the same time")


async def delete_like(blog: Blog, post_id: str, user_id: str, *, if_match: Collection[str] | None = None) -> None:
    """A point read and a batch. Succeeds if the like does not exist.

    Raises PostNotFound, and VersionMismatch if the like is not in `if_match`, or does not exist although it has one.
    """
    await remove_item(blog.posts, post_id, user_id, Like.TYPE, if_match=if_match)  # a like has the ID of its user


async def list_likes(posts: Container, post_id: str, *, limit: int, cursor: Cursor | None) -> Page[Cursor]:
    """Q5: `list_responses`. Raises PostNotFound."""
    return await list_responses(posts, Like, post_id, limit=limit, cursor=cursor)
