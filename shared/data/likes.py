"""Likes: add, take back, list. They live in the logical partition of their post, one per user."""

from __future__ import annotations

from shared.cosmos import Container
from shared.data.contributions import Added, list_of_post, repeatable
from shared.data.identity import command_id, now
from shared.data.pages import Cursor, Page
from shared.data.users import get_author
from shared.models.like import Like, NewLike, like_id, like_item
from shared.transactions.choice import BATCHES, Transactions


async def create_like(
    users: Container,
    posts: Container,
    post_id: str,
    new: NewLike,
    *,
    idempotency_key: str | None,
    transactions: Transactions = BATCHES,
) -> Added:
    """C4. One transaction, and a point read of a user who has not written lately. A repeated like returns the first one
    and counts nothing: under the same key it writes nothing, under another one it is noted in the like. Raises
    UserNotFound, PostNotFound."""
    liker = await get_author(users, new.user_id)
    command = command_id("like", key=idempotency_key, owner=f"{new.user_id}\n{post_id}")
    return await transactions.contributions.add(posts, like_item(post_id, liker, now()) | repeatable(command))


async def delete_like(
    posts: Container, post_id: str, user_id: str, *, etag: str | None, transactions: Transactions = BATCHES
) -> None:
    """One transaction, in batches after a point read of the like; no error when there is no such like. Raises
    PostNotFound, VersionMismatch."""
    await transactions.contributions.remove(posts, post_id, like_id(user_id), Like.TYPE, etag=etag)


async def list_likes(posts: Container, post_id: str, *, limit: int, cursor: Cursor | None) -> Page:
    """Q5. One query inside one partition of `posts`. Raises PostNotFound."""
    return await list_of_post(posts, Like, post_id, limit=limit, cursor=cursor)
