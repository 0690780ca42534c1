"""Steps that the tests of reports share."""

from __future__ import annotations

from typing import Any

from addons.moderation.models import NewReport
from addons.moderation.reports import create_report, list_reported
from shared.platform.database.container import Container
from shared.platform.models import Item
from tests.blog import Blog
from tests.items import a_comment, a_post, a_user

REASON = "An advertisement."


async def a_reader(blog: Blog) -> Item:
    return await blog.users.create(a_user("reader"))


async def a_commented_post(blog: Blog) -> tuple[Item, Item]:
    """Return a post by a reader, and a comment on it."""
    author = await a_reader(blog)
    post = await blog.posts.create(a_post(author) | {"commentCount": 1})
    return post, await blog.posts.create(a_comment(post, author))


async def report(
    blog: Blog, moderation: Container, item: Item, reader: Item, reason: str = REASON
) -> tuple[Item, bool]:
    comment_id = item["id"] if item["type"] == "comment" else None
    new = NewReport(user_id=reader["id"], reason=reason)
    return await create_report(blog.stored, moderation, item["postId"], comment_id, new)


async def listed(blog: Blog, moderation: Container) -> list[tuple[Any, ...]]:
    """Return the ID, the number of reports and the reasons of each reported item."""
    page = await list_reported(blog.stored, moderation, limit=100, cursor=None)
    return [(entry["itemId"], entry["reportCount"], entry["reasons"]) for entry in page.items]
