"""Comments: create, delete, list. They live in the logical partition of their post."""

from __future__ import annotations

from shared.cosmos import Container
from shared.data.contributions import list_of_post, repeatable
from shared.data.identity import new_id, now
from shared.data.pages import Cursor, Page
from shared.data.users import get_author
from shared.errors import CommentNotFound
from shared.models.base import Item
from shared.models.comment import Comment, NewComment, comment_item
from shared.transactions.choice import BATCHES, Transactions


async def create_comment(
    users: Container,
    posts: Container,
    post_id: str,
    new: NewComment,
    *,
    idempotency_key: str | None,
    transactions: Transactions = BATCHES,
) -> Item:
    """C3. One transaction, and a point read of an author who has not written lately. Raises UserNotFound, PostNotFound,
    and CommentNotFound for a repeated command whose comment was deleted meanwhile."""
    author = await get_author(users, new.user_id)
    comment_id = new_id("comment", key=idempotency_key, owner=f"{new.user_id}\n{post_id}")
    command = None if idempotency_key is None else comment_id
    item = comment_item(comment_id, post_id, author, new, now()) | repeatable(command)
    return (await transactions.contributions.add(posts, item)).item


async def delete_comment(
    posts: Container, post_id: str, comment_id: str, *, etag: str | None, transactions: Transactions = BATCHES
) -> None:
    """One transaction, in batches after a point read of the comment. Raises PostNotFound, CommentNotFound,
    VersionMismatch."""
    if not await transactions.contributions.remove(posts, post_id, comment_id, Comment.TYPE, etag=etag):
        raise CommentNotFound(comment_id)


async def list_comments(posts: Container, post_id: str, *, limit: int, cursor: Cursor | None) -> Page:
    """Q4. One query inside one partition of `posts`. Raises PostNotFound."""
    return await list_of_post(posts, Comment, post_id, limit=limit, cursor=cursor)
