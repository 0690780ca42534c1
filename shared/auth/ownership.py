"""Whose something is, where that must be looked up. The author of a post, comment or like never changes, and an id is
never another user's afterwards, so a look before the write is as good as one within it."""

from __future__ import annotations

from shared.auth.callers import Caller
from shared.cosmos import Container
from shared.data.posts import get_post
from shared.errors import CommentNotFound, Forbidden
from shared.models.comment import Comment


async def may_delete_comment(posts: Container, post_id: str, comment_id: str, caller: Caller) -> None:
    """Raises Forbidden unless the comment is the caller's, or stands under a post of the caller; PostNotFound,
    CommentNotFound.

    Costs nothing for a back end, a point read for the comment's author, two for anyone else.
    """
    if caller.user is None:
        return
    comment = await posts.read(comment_id, post_id)
    if comment is not None and comment["type"] == Comment.TYPE and caller.is_user(comment["userId"]):
        return
    post = await get_post(posts, post_id)
    if comment is None or comment["type"] != Comment.TYPE:
        raise CommentNotFound(comment_id)
    if not caller.is_user(post["userId"]):
        raise Forbidden("A comment is deleted by its author, or by the author of the post that it stands under.")
