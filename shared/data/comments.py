"""Comments: create, delete, list. They live in the logical partition of their post."""

from __future__ import annotations

from shared.cosmos import Container, ScriptFailed
from shared.data.contributions import add, list_of_post, repeatable
from shared.data.identity import new_id, now
from shared.data.pages import Cursor, Page
from shared.data.posts import get_post
from shared.data.users import get_user
from shared.errors import CommentNotFound, VersionMismatch
from shared.models.base import Item
from shared.models.comment import Comment, NewComment, comment_item


async def create_comment(
    users: Container, posts: Container, post_id: str, new: NewComment, *, idempotency_key: str | None
) -> Item:
    """C3. A point read of the author and one stored procedure. Raises UserNotFound, PostNotFound, and CommentNotFound
    for a repeated command whose comment was deleted meanwhile."""
    author = await get_user(users, new.user_id)
    comment_id = new_id("comment", key=idempotency_key, owner=f"{new.user_id}\n{post_id}")
    command = None if idempotency_key is None else comment_id
    try:
        added = await add(
            posts, "createComment", comment_item(comment_id, post_id, author, new, now()) | repeatable(command)
        )
    except ScriptFailed as failure:
        if failure.number == 410:
            raise CommentNotFound(comment_id) from failure
        raise
    return added.item


async def delete_comment(posts: Container, post_id: str, comment_id: str, *, etag: str | None) -> None:
    """One stored procedure. Raises PostNotFound, CommentNotFound, VersionMismatch."""
    try:
        await posts.execute("deleteComment", post_id, post_id, comment_id, etag)
    except ScriptFailed as failure:
        if failure.number == 404:
            await get_post(posts, post_id)
            raise CommentNotFound(comment_id) from failure
        if failure.number == 412:
            raise VersionMismatch from failure
        raise


async def list_comments(posts: Container, post_id: str, *, limit: int, cursor: Cursor | None) -> Page:
    """Q4. One query inside one partition of `posts`. Raises PostNotFound."""
    return await list_of_post(posts, Comment, post_id, limit=limit, cursor=cursor)
