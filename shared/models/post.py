"""Posts, in full and in short form."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from typing import Any, ClassVar, Literal, Self

from shared.models.base import Item, RequestModel, Resource
from shared.models.fields import CreationDate, PostContent, Title, UserId, iso_utc, parse_moment
from shared.models.user import signature

SUMMARY_LENGTH = 200
# A deleted post keeps its item for a while under this type, so that the change feed can show the deletion.
DELETED_TYPE = "deletedPost"


class NewPost(RequestModel):
    """The body that creates a post."""

    user_id: UserId
    title: Title
    content: PostContent


class PostChanges(RequestModel):
    """The body that edits a post."""

    title: Title
    content: PostContent


class Post(Resource):
    """A post, as the API shows it; in short form its content is a summary."""

    TYPE: ClassVar[str] = "post"

    id: str
    type: Literal["post"] = "post"
    post_id: str
    user_id: UserId
    # A post of the article's V1 has neither a name nor counts until the change feed has seen it.
    user_username: str = ""
    title: str
    content: str
    comment_count: int = 0
    like_count: int = 0
    creation_date: CreationDate

    @classmethod
    def from_item(cls, item: Mapping[str, Any]) -> Self:
        """Takes a copy, too, which does not say a second time that its id is the post's."""
        return super().from_item({"postId": item.get("id"), **item})


def post_item(post_id: str, author: Item, new: NewPost, creation_date: str) -> Item:
    """The item of a new post by `author`, a user's item. `version` grows with every write of the post, so that a copy
    is only ever replaced by a later state."""
    return {
        "id": post_id,
        "type": Post.TYPE,
        "postId": post_id,
        **signature(author),
        "title": new.title,
        "content": new.content,
        "commentCount": 0,
        "likeCount": 0,
        "version": 1,
        "creationDate": creation_date,
    }


def short_form(post: Item) -> Item:
    """The copy of a post that `users` and `feed` hold: what a list shows of it, with a summary for its content and its
    date in the one format in which dates sort, and its `version`. Lists are charged by the bytes they read, so it has
    no `postId`, which is its id, and no `nameVersion`, for a rename is a new version of the post. Raises KeyError,
    TypeError, ValueError for an item that is not a post."""
    return {
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


def version_of(post: Item) -> int:
    """How often the post was written; 0 for one from before posts had versions."""
    version = post.get("version", 0)
    if not isinstance(version, int):
        raise TypeError(f"version must be a whole number, not {version!r}")
    return version


def summary(content: str) -> str:
    """`content` itself, or at most 200 characters of it: cut at a word's end where there is one, marked with `…`."""
    if len(content) <= SUMMARY_LENGTH:
        return content
    room = SUMMARY_LENGTH - 1
    cut = content[:room]
    if not content[room].isspace():
        words = re.match(r"(?s)(.*\S)\s", cut)
        cut = words.group(1) if words else _whole_characters(content, room)
    return cut.rstrip() + "…"


# Beside marks, what changes the character before it: the joiner, skin tones, and the tags of a region's flag.
_EXTENDS = re.compile("[\u200d\U0001f3fb-\U0001f3ff\U000e0020-\U000e007f]")
# Two of these in a row are one flag.
_REGIONAL_INDICATORS = "".join(map(chr, range(0x1F1E6, 0x1F200)))


def _whole_characters(content: str, length: int) -> str:
    """At most `length` characters, the last of them as a reader sees it whole (most of Unicode's UAX #29)."""
    while length > 1 and _belong_together(content[:length], content[length]):
        length -= 1
    return content[:length]


def _belong_together(before: str, character: str) -> bool:
    if unicodedata.category(character).startswith("M") or _EXTENDS.match(character) or before.endswith("\u200d"):
        return True
    indicators = len(before) - len(before.rstrip(_REGIONAL_INDICATORS))
    return character in _REGIONAL_INDICATORS and indicators % 2 == 1
