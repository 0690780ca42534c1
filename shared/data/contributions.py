"""Comments and likes alike, what people contribute to a post: how a post's partition answers to a list of either, and
to the script that adds one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from shared.cosmos import Container, ScriptFailed
from shared.data.pages import Cursor, Page, read_page
from shared.data.posts import get_post
from shared.errors import PostNotFound
from shared.models.base import Item, Resource
from shared.models.post import DELETED_TYPE


@dataclass(frozen=True)
class Added:
    """A comment or like as stored, and whether this command created it."""

    item: Item
    created: bool


def repeatable(command: str | None) -> Item:
    """What a comment or like keeps of its command: then its deletion leaves a mark, by which a repetition is known."""
    return {} if command is None else {"commandId": command}


async def add(posts: Container, procedure: str, item: Item) -> Added:
    """One stored procedure, which creates the item and counts it on its post. Raises PostNotFound."""
    try:
        answer: dict[str, Any] = await posts.execute(procedure, item["postId"], item)
    except ScriptFailed as failure:
        if failure.number == 404:
            raise PostNotFound(item["postId"]) from failure
        raise
    return Added(answer["item"], answer["created"])


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
