"""Reports of posts and comments: create, list the reported items, dismiss.

A report is in the logical partition of its post, with an ID that allows one per reader and item. The posts change feed
counts the reports of an item, and keeps an entry for it in `feed` (shared/propagation/reports.py). All entries share
one logical partition, so the list is one query.
"""

from __future__ import annotations

from collections.abc import Collection

from shared.data.blog import Blog
from shared.data.comments import get_comment
from shared.data.idempotency import create_recorded, idempotency_record, is_recorded, new_id
from shared.data.pages import Cursor, Page, read_page
from shared.data.posts import require_post
from shared.data.users import get_author
from shared.database.container import Container
from shared.database.refusals import ConditionFailed, ItemExists, ItemMissing
from shared.database.retries import ENTRY_ATTEMPTS
from shared.errors import DatabaseUnavailable, PostNotFound, ReportNotFound, VersionMismatch
from shared.models.base import Item, now
from shared.models.report import LEAST_RANK, NewReport, ReportedItem, report_item, reported_item
from shared.observability.spans import trace_property
from shared.transactions.batches import Added


async def create_report(
    blog: Blog, post_id: str, comment_id: str | None, new: NewReport, *, idempotency_key: str | None
) -> Added:
    """C6: a query for the post; one write; a point read of a comment, and one of the user unless they are cached.

    A second report by the same user returns the first one. Raises UserNotFound, PostNotFound, CommentNotFound,
    IdempotencyKeyReused.
    """
    author, item_id, record = await get_author(blog.users, new.user_id), comment_id or post_id, None
    await require_post(blog.posts, post_id)
    if comment_id is not None:
        await get_comment(blog.posts, post_id, comment_id)
    report = report_item(post_id, item_id, author, new, now()) | trace_property()
    if idempotency_key is not None:
        command_id = new_id("report", idempotency_key, new.user_id, post_id, item_id)
        record = idempotency_record(command_id, new, {"id": report["id"]}, postId=post_id)
    try:
        return Added(await create_recorded(blog.posts, report, record, post_id), created=True)
    except ItemExists:
        if record is not None and not await is_recorded(blog.posts, record, post_id):
            try:
                await blog.posts.create(record)
            except ItemExists:  # another command has used the key since
                await is_recorded(blog.posts, record, post_id)
    existing = await blog.posts.read(report["id"], post_id)
    if existing is None:  # deleted since, with its post
        raise PostNotFound(post_id)
    return Added(existing, created=False)


async def list_reported(feed: Container, *, limit: int, cursor: Cursor | None) -> Page[Cursor]:
    """Q8, most reported first: one query in one partition of `feed`."""
    return await read_page(
        feed,
        ReportedItem,
        ReportedItem.TYPE,
        ReportedItem.TYPE,
        limit=limit,
        cursor=cursor,
        order="rank",
        least=LEAST_RANK,
    )


async def dismiss(feed: Container, entry_id: str, *, if_match: Collection[str] | None) -> None:
    """Take an entry off the list: a point read and a write. It stays, without reasons, to remember what it had.

    Raises ReportNotFound, and VersionMismatch unless `if_match` has the date of the latest report, so that a moderator
    dismisses only what they have seen.
    """
    dismissed: Item | None = None
    for _ in range(ENTRY_ATTEMPTS):
        entry = await feed.read_latest(entry_id, ReportedItem.TYPE)
        if entry and dismissed and entry.get("dismissedDate") == dismissed["dismissedDate"]:
            return  # the SDK resent the write, or somebody else has dismissed the same reports
        if entry is None or not entry.get("reportCount"):
            raise ReportNotFound(entry_id)
        entry = ReportedItem.checked(entry)
        if if_match is not None and ReportedItem.last_edit(entry) not in if_match:
            raise VersionMismatch
        dismissed = reported_item(entry["postId"], entry["itemId"], [], dismissed_date=entry["creationDate"])
        try:
            await feed.replace(dismissed | trace_property(), etag=entry["_etag"])
        except (ItemMissing, ConditionFailed):
            continue  # it has other reports now
        return
    raise DatabaseUnavailable(f"the entry {entry_id} was written at the same time {ENTRY_ATTEMPTS} times")
