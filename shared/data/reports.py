"""Reports of posts and comments: create, list the reported items, dismiss.

A report is in the logical partition of its post, with an ID that allows one per reader and item. The posts change feed
counts the reports of an item, and keeps an entry for it in `feed` (shared/propagation/reports.py). All entries share
one logical partition, so the list is one query.
"""

from __future__ import annotations

from contextlib import suppress

from shared.data.blog import Blog
from shared.data.comments import get_comment
from shared.data.idempotency import create_recorded, idempotency_record, is_recorded, new_id
from shared.data.pages import Cursor, Page, read_page
from shared.data.posts import require_post
from shared.data.users import get_author
from shared.database.container import Container
from shared.database.refusals import ItemExists, ItemMissing
from shared.errors import PostNotFound, ReportNotFound
from shared.models.base import now
from shared.models.report import NewReport, ReportedItem, report_item
from shared.observability.spans import trace_property
from shared.transactions.batches import Added


async def create_report(
    blog: Blog, post_id: str, comment_id: str | None, new: NewReport, *, idempotency_key: str | None
) -> Added:
    """C6: a point read of the comment, or a query for the post; one write, and a point read unless the user is cached.

    A second report by the same user returns the first one. Raises UserNotFound, PostNotFound, CommentNotFound,
    IdempotencyKeyReused.
    """
    author, item_id, record = await get_author(blog.users, new.user_id), comment_id or post_id, None
    if comment_id is None:
        await require_post(blog.posts, post_id)
    else:
        await get_comment(blog.posts, post_id, comment_id)
    report = report_item(post_id, item_id, author, new, now()) | trace_property()
    if idempotency_key is not None:
        command_id = new_id("report", idempotency_key, new.user_id, post_id, item_id)
        record = idempotency_record(command_id, new, {"id": report["id"]}, postId=post_id)
    try:
        return Added(await create_recorded(blog.posts, report, record, post_id), created=True)
    except ItemExists:
        if record is not None and not await is_recorded(blog.posts, record, post_id):
            with suppress(ItemExists):
                await blog.posts.create(record)
    existing = await blog.posts.read(report["id"], post_id)
    if existing is None:  # deleted since, with its post
        raise PostNotFound(post_id)
    return Added(existing, created=False)


async def list_reported(feed: Container, *, limit: int, cursor: Cursor | None) -> Page:
    """Q8, most reported first: one query in one partition of `feed`."""
    return await read_page(
        feed, ReportedItem, ReportedItem.TYPE, ReportedItem.TYPE, limit=limit, cursor=cursor, order="rank"
    )


async def dismiss(feed: Container, entry_id: str) -> None:
    """Delete an entry of the list: one write. Raises ReportNotFound."""
    try:
        await feed.delete(entry_id, ReportedItem.TYPE)
    except ItemMissing as error:
        raise ReportNotFound(entry_id) from error
