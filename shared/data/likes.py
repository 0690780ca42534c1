"""Likes: create, delete, list. They are in the logical partition of their post, one per user."""

from __future__ import annotations

from collections.abc import Collection

from shared.data.blog import Blog
from shared.data.idempotency import idempotency_record, new_id
from shared.data.pages import Cursor, Page
from shared.data.posts import list_responses
from shared.data.users import get_author
from shared.database.container import Container
from shared.models.base import now
from shared.models.like import Like, NewLike, like_item
from shared.observability.spans import trace_property
from shared.transactions.batches import Added, remove_item

# A record keeps these properties, because a retry returns the like even after it was deleted.
_RECORDED = ("id", "userId", "userUsername", "creationDate")


async def create_like(blog: Blog, post_id: str, new: NewLike, *, idempotency_key: str | None) -> Added:
    """C4: one transaction, and a point read unless the user is cached.

    Liking a post twice returns the existing like and counts once. Raises UserNotFound, PostNotFound.
    """
    like = like_item(post_id, await get_author(blog.users, new.user_id), now()) | trace_property()
    record = None
    if idempotency_key is not None:
        command_id = new_id("like", idempotency_key, new.user_id, post_id)
        record = idempotency_record(command_id, new, {name: like[name] for name in _RECORDED}, postId=post_id)
    return await blog.transactions.add(blog.posts, like, record)


async def delete_like(blog: Blog, post_id: str, user_id: str, *, if_match: Collection[str] | None = None) -> None:
    """A point read and a batch. Succeeds if the like does not exist.

    Raises PostNotFound, and VersionMismatch if the like is not in `if_match`, or does not exist although it has one.
    """
    await remove_item(blog.posts, post_id, user_id, Like.TYPE, if_match=if_match)  # a like has the ID of its user


async def list_likes(
    posts: Container, post_id: str, *, limit: int, cursor: Cursor | None, check_post: bool = True
) -> Page[Cursor]:
    """Q5: one query in one partition of `posts`. Raises PostNotFound; see `list_responses` for `check_post`."""
    return await list_responses(posts, Like, post_id, limit=limit, cursor=cursor, check_post=check_post)
