"""Likes: add, take back, list. They live in the logical partition of their post, one per user."""

from __future__ import annotations

from shared.cosmos import Container, ScriptFailed
from shared.data.contributions import Added, add, list_of_post, repeatable
from shared.data.identity import command_id, now
from shared.data.pages import Cursor, Page
from shared.data.users import get_user
from shared.errors import PostNotFound, VersionMismatch
from shared.models.like import Like, NewLike, like_id, like_item


async def create_like(
    users: Container, posts: Container, post_id: str, new: NewLike, *, idempotency_key: str | None
) -> Added:
    """C4. A point read of the user and one stored procedure. A repeated like returns the first one and writes nothing.
    Raises UserNotFound, PostNotFound."""
    liker = await get_user(users, new.user_id)
    command = command_id("like", key=idempotency_key, owner=f"{new.user_id}\n{post_id}")
    return await add(posts, "createLike", like_item(post_id, liker, now()) | repeatable(command))


async def delete_like(posts: Container, post_id: str, user_id: str, *, etag: str | None) -> None:
    """One stored procedure; no error when there is no such like. Raises PostNotFound, VersionMismatch."""
    try:
        await posts.execute("deleteLike", post_id, post_id, like_id(user_id), etag)
    except ScriptFailed as failure:
        if failure.number == 404:
            raise PostNotFound(post_id) from failure
        if failure.number == 412:
            raise VersionMismatch from failure
        raise


async def list_likes(posts: Container, post_id: str, *, limit: int, cursor: Cursor | None) -> Page:
    """Q5. One query inside one partition of `posts`. Raises PostNotFound."""
    return await list_of_post(posts, Like, post_id, limit=limit, cursor=cursor)
