"""Comments and likes alike, what people contribute to a post: how one is added or removed together with its count, and
how a post's partition answers to a list of either."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from shared.cosmos import Container
from shared.data.pages import Cursor, Page, read_page
from shared.data.posts import get_post
from shared.errors import PostNotFound
from shared.models.base import Item, Resource
from shared.models.comment import Comment
from shared.models.like import Like
from shared.models.post import DELETED_TYPE

# One whose command may be repeated leaves a mark in its place for so long, so that no repetition brings it back.
REPEATABLE_S = 24 * 3600
MARKS = {Comment.TYPE: "deletedComment", Like.TYPE: "deletedLike"}

# The property of a like, or of its mark, with the commands about it but for `commandId`, the one that made it; and how
# many of them it keeps. stored_procedures/createLike.js has the same two; a test holds them together.
EARLIER = "earlierCommands"
MOST_EARLIER = 20


@dataclass(frozen=True)
class Added:
    """A comment or like as stored, and whether this command created it."""

    item: Item
    created: bool


class Contributions(Protocol):
    """Writes a comment or like and its count on the post in one transaction; nothing is written where an error is
    raised, but for DatabaseUnavailable, after which it may have been."""

    async def add(self, posts: Container, item: Item) -> Added:
        """Add a whole comment or like; one that is there already is answered as it is, and counts once.

        A `commandId` tells a repeated command: it does not bring back what was deleted since. A repeated comment that
        was deleted raises CommentNotFound; a repeated like is answered as it was. Raises PostNotFound.
        """

    async def remove(self, posts: Container, post_id: str, item_id: str, kind: str, *, etag: str | None) -> bool:
        """Remove a comment or like (`kind` is its type), if it has `etag` where one is given; False when there is none.
        Raises PostNotFound, VersionMismatch."""


def repeatable(command: str | None) -> Item:
    """What a comment or like keeps of its command: then its deletion leaves a mark, by which a repetition is known."""
    return {} if command is None else {"commandId": command}


def knows(like: Item, command: str) -> bool:
    """Whether the command was answered with this like, or with one that stood in its place before."""
    return command == like.get("commandId") or command in like.get(EARLIER, [])


def with_earlier(like: Item, *commands: str | None) -> Item:
    """What a like keeps of the commands before it. A command that found the user's like there already has written
    nothing else; without a trace of it, its repetition after an unlike would be taken for a new one."""
    earlier = [*like.get(EARLIER, []), *(command for command in commands if command is not None)]
    return {EARLIER: earlier[-MOST_EARLIER:]} if earlier else {}


async def list_of_post(
    posts: Container, resource: type[Resource], post_id: str, *, limit: int, cursor: Cursor | None
) -> Page:
    """One query inside one partition of `posts`; where it finds nothing, a point read that tells an unknown post from
    one without. Raises PostNotFound.

    The query asks for the mark of a deleted post, too, which sorts first: the comments and likes of a deleted post are
    still there until the change feed has taken them away. A page further down does not meet the mark; until then it may
    still answer.
    """
    types = (resource.TYPE, DELETED_TYPE)
    page = await read_page(posts, resource, partition_key=post_id, types=types, limit=limit, cursor=cursor)
    if not page.items:
        await get_post(posts, post_id)
    elif page.items[0]["type"] == DELETED_TYPE:
        raise PostNotFound(post_id)
    return page
