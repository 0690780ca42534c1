"""Likes of posts."""

from __future__ import annotations

from typing import ClassVar, Literal

from shared.models.base import ItemOfPost, UserId
from shared.models.user import author_properties
from shared.platform.models import Date, Item, RequestModel


class NewLike(RequestModel):
    """The body that likes a post."""

    user_id: UserId


class Like(ItemOfPost):
    """A like in a response."""

    TYPE: ClassVar[str] = "like"

    id: str
    type: Literal["like"] = "like"
    post_id: str
    user_id: UserId
    user_username: str = ""
    creation_date: Date


def like_item(post_id: str, liker: Item, creation_date: str) -> Item:
    """Return the item of a new like; `liker` is a user's item.

    It has the user's ID, so that the post's partition refuses a second like.
    """
    identity = {"id": liker["userId"], "type": Like.TYPE, "postId": post_id}
    return {**identity, **author_properties(liker), "creationDate": creation_date}
