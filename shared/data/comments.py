"""Comments: create, delete, list. They are in the logical partition of their post."""

from __future__ import annotations

from collections.abc import Collection

from shared.data.blog import Blog
from shared.data.posts import get_post, list_responses, require_post
from shared.data.users import get_user
from shared.errors import CommentNotFound
from shared.models.comment import Comment, NewComment, comment_item
from shared.platform.data.idempotency import idempotency_record, new_id, require_recorded
from shared.platform.data.pages import Cursor, Page
from shared.platform.database.container import Container
from shared.platform.database.refusals import ItemExists
from shared.platform.errors import Forbidden
from shared.platform.http.callers import Caller, SignedIn
from shared.platform.models import Item, is_item_id, now
from shared.platform.telemetry import trace_property
from shared.transactions.batches import remove_item


async def create_comment(blog: Blog, post_id: str, new: NewComment, *, idempotency_key: str | None) -> Item:
    """C3: a point read of the author and one transaction.

    Raises UserNotFound, PostNotFound, IdempotencyKeyReused, and CommentNotFound for a retry whose comment was deleted.
    """
    author = await get_user(blog.users, new.user_id)
    comment_id = new_id("comment", idempotency_key, new.user_id, post_id)
    comment = comment_item(comment_id, post_id, author, new, now()) | trace_property()
    record = idempotency_record(comment_id, new, postId=post_id) if idempotency_key else None
    try:
        return await blog.transactions.add(blog.posts, comment, record)
    except ItemExists:
        await require_recorded(blog.posts, record, post_id)
        return await get_comment(blog.posts, post_id, comment_id)


async def delete_comment(
    blog: Blog, post_id: str, comment_id: str, *, by: Caller, if_match: Collection[str] | None = None
) -> None:
    """A point read and a batch. Raises PostNotFound, CommentNotFound, VersionMismatch.

    If users sign in, one more point read shows the author of the comment, and for somebody else, another one shows the
    author of the post. Raises Forbidden. Authors never change and IDs are never reused, so this check need not share a
    transaction with the deletion.
    """
    if isinstance(by, SignedIn):
        authors = [(await get_comment(blog.posts, post_id, comment_id))["userId"]]
        if not by.is_one_of(authors):
            authors.append((await get_post(blog.posts, post_id))["userId"])
        if not by.is_one_of(authors):
            raise Forbidden("Only the author of the comment or of its post can delete it.")
    if not await remove_item(blog.posts, post_id, comment_id, Comment.TYPE, if_match=if_match):
        raise CommentNotFound(comment_id)


async def get_comment(posts: Container, post_id: str, comment_id: str) -> Item:
    """One point read; if the comment does not exist, a query for the post. Raises PostNotFound, CommentNotFound."""
    comment = await posts.read(comment_id, post_id) if is_item_id(comment_id) else None
    if comment is None or comment.get("type") != Comment.TYPE:
        await require_post(posts, post_id)
        raise CommentNotFound(comment_id)
    return Comment.checked(comment)


async def list_comments(posts: Container, post_id: str, *, limit: int, cursor: Cursor | None) -> Page[Cursor]:
    """Q4: `list_responses`. Raises PostNotFound."""
    return await list_responses(posts, Comment, post_id, limit=limit, cursor=cursor)
