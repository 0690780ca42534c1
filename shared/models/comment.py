"""Comments on posts."""

from __future__ import annotations

from typing import ClassVar, Literal

from shared.models.base import CommentContent, ItemOfPost, UserId
from shared.models.user import author_properties
from shared.platform.models import Date, Item, RequestModel


class NewComment(RequestModel):
    """The body that creates a comment."""

    user_id: UserId
    content: CommentContent


class Comment(ItemOfPost):
    """A comment in a response."""

    TYPE: ClassVar[str] = "comment"

    id: str
    type: Literal["comment"] = "comment"
    post_id: str
    user_id: UserId
    user_username: str = ""
    content: str
    creation_date: Date


def comment_item(comment_id: str, post_id: str, author: Item, new: NewComment, creation_date: str) -> Item:
    """Return the item of a new comment; `author` is a user's item."""
    return {
        "id": comment_id,
        "type": Comment.TYPE,
        "postId": post_id,
        **author_properties(author),
        "content": new.content,
        "creationDate": creation_date,
    }
