"""Authorization: what a caller can do.

A back end with a function key can do everything. A signed-in caller

- acts as their own user only: in every command that names a user, in its path or body;
- edits and deletes their own posts: the write checks the author in its predicate (shared/data/posts.py), which saves
  a read;
- deletes their own comments, and all comments on their own posts.
"""

from __future__ import annotations

from shared.auth.callers import Caller
from shared.data import comments, posts
from shared.data.blog import Blog
from shared.errors import Forbidden


def require_can_act_as(caller: Caller, user_id: str) -> None:
    """Raise Forbidden unless the caller acts as this user."""
    if not caller.is_user(user_id):
        raise Forbidden(f"You cannot act as the user {user_id!r}; your user ID is {str(caller.user)!r}.")


async def require_can_delete_comment(caller: Caller, blog: Blog, post_id: str, comment_id: str) -> None:
    """Raise Forbidden unless the caller wrote the comment or its post; PostNotFound, CommentNotFound.

    Costs nothing for a back end, one point read for the comment's author, and two for other callers. Authors never
    change and IDs are never reused, so this check need not share a transaction with the deletion.
    """
    if caller.user is None:
        return
    comment = await comments.get_comment(blog.posts, post_id, comment_id)
    if caller.is_user(comment["userId"]):
        return
    if not caller.is_user((await posts.get_post(blog.posts, post_id))["userId"]):
        raise Forbidden("Only the author of the comment or of its post can delete it.")
