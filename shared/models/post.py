"""Posts, in full and in short form."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Final, Literal, Self

from pydantic.json_schema import SkipJsonSchema

from shared.errors import PostNotFound
from shared.models.base import ItemOfPost, PostContent, Title, UserId
from shared.models.summary import summary
from shared.models.user import author_properties
from shared.platform.models import Date, Item, RequestModel, integer_of, is_whole_number, iso_utc, parse_moment


class NewPost(RequestModel):
    """The body that creates a post."""

    user_id: UserId
    title: Title
    content: PostContent


class PostChanges(RequestModel):
    """The body that edits a post."""

    title: Title
    content: PostContent


# The condition of a patch that increments `version`, which a V1 post does not have.
HAS_COUNTABLE_VERSION: Final = "(NOT IS_DEFINED(c.version) OR IS_NUMBER(c.version))"
# The texts and the name that a deleted post loses: each property of NewPost but userId, and the username.
EMPTIED: Final = {"userUsername": "", "title": "", "content": ""}


class Post(ItemOfPost):
    """A post in a response; in short form, its content is a summary in plain text."""

    TYPE: ClassVar[str] = "post"
    INTERNAL: ClassVar[Mapping[str, type]] = {"nameVersion": int, "editId": str}

    id: str
    type: Literal["post"] = "post"
    post_id: str
    user_id: UserId
    # A V1 post has no username until the change feed has processed it, and no counts before `manage.py rebuild`.
    user_username: str = ""
    title: str
    content: str
    comment_count: int = 0
    like_count: int = 0
    creation_date: Date
    # Of the title or content; absent until the first edit.
    edited_date: Date | SkipJsonSchema[None] = None

    @classmethod
    def from_item(cls, item: Mapping[str, Any]) -> Self:
        """Return the resource of a post or of a copy; copies omit `postId`. Raises ItemDamaged.

        A count that is not a number is 0, until `manage.py rebuild` counts again.
        """
        counts = {name: integer_of(item, name) for name in ("commentCount", "likeCount") if name in item}
        return super().from_item({"postId": item.get("id"), **item, **counts})

    @classmethod
    def last_edit(cls, item: Mapping[str, Any]) -> str:
        """Return the ID of the last edit of title and content, empty before the first."""
        edit_id: str = item.get("editId", "")
        return edit_id


def post_item(post_id: str, author: Item, new: NewPost, creation_date: str) -> Item:
    """Return the item of a new post; `author` is a user's item.

    Every write increments `version`, so that copies are replaced only by later states.
    """
    return {
        "id": post_id,
        "type": Post.TYPE,
        "postId": post_id,
        **author_properties(author),
        "title": new.title,
        "content": new.content,
        "commentCount": 0,
        "likeCount": 0,
        "version": 1,
        "creationDate": creation_date,
    }


def short_form(post: Item) -> Item:
    """Return the copy of a post in `users` and `feed`. Raises KeyError, TypeError, ValueError if it is not a post.

    Queries are charged by the bytes they read, so a copy has only what lists show, in a date format that sorts, and
    `version`. It omits `postId` (its id) and `nameVersion` (a rename increments `version`).
    """
    copy = {
        "id": post["id"],
        "type": Post.TYPE,
        "userId": post["userId"],
        "userUsername": post.get("userUsername", ""),
        "title": post["title"],
        "content": summary(post["content"]),
        "commentCount": post.get("commentCount") or 0,
        "likeCount": post.get("likeCount") or 0,
        "version": version_of(post),
        "creationDate": iso_utc(parse_moment(post["creationDate"])),
    }
    return copy | {"editedDate": iso_utc(parse_moment(post["editedDate"]))} if "editedDate" in post else copy


def existing_post(post: Item | None, post_id: str) -> Item:
    """Return a post that was read by its ID. Raises PostNotFound if there is none, or only its tombstone.

    Raises ItemDamaged if it is not what the app writes.
    """
    if post is None or post.get("type") != Post.TYPE:
        raise PostNotFound(post_id)
    return Post.checked(post)


def version_of(post: Item) -> int:
    """Return how often the post was written; 0 for a V1 post. Raises TypeError."""
    version = post.get("version", 0)
    if not is_whole_number(version):
        raise TypeError(f"version must be a whole number, not {type(version).__name__}")
    return version
