"""Keeps the list of reported items: an entry in `feed` for each post or comment with reports.

An entry is computed from the reports, so a change can be handled late or twice. If everybody reports one post, each
report is one write to its partition, but the changes of a delivery cost two reads of at most 100 reports and one write.
"""

from __future__ import annotations

from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from shared.data.blog import Blog
from shared.database.container import Container, patch_of
from shared.database.refusals import ConditionFailed, ItemExists, ItemMissing
from shared.database.retries import COPY_ATTEMPTS
from shared.errors import NoProgress
from shared.models.base import Item, iso_utc
from shared.models.comment import Comment
from shared.models.post import Post
from shared.models.report import COUNTED_S, MOST_COUNTED, Report, ReportedItem, reported_item, reported_item_id
from shared.observability.spans import trace_property

_REPORTS = (
    f"SELECT c.reason, c.creationDate FROM c WHERE c.type = '{Report.TYPE}' AND c.itemId = @itemId AND c.reason != ''"  # noqa: S608 - constants
    " AND c.creationDate > @since ORDER BY c.type DESC, c.creationDate DESC, c.id DESC OFFSET 0 LIMIT @limit"
)
_IS_LASTING: Final = (
    f"FROM c WHERE c.type IN ('{Post.TYPE}', '{Comment.TYPE}') AND (NOT IS_DEFINED(c.ttl) OR c.ttl = -1)"
)
_CHANGING: Final = ("rank", "reasons", "dismissedDate")
_ITEM = "SELECT c.type, c.ttl, c.isReported FROM c WHERE c.id = @itemId OFFSET 0 LIMIT 1"


async def update_reported_item(blog: Blog, post_id: str, item_id: str) -> None:
    """Write the entry of a reported item, or delete it if the item or its reports are gone. Raises NoProgress."""
    entry_id = reported_item_id(post_id, item_id)
    for _ in range(COPY_ATTEMPTS):
        # Read before the reports, so that its etag refuses a write that knows fewer of them.
        known = await blog.feed.read_latest(entry_id, ReportedItem.TYPE)
        await blog.posts.catch_up(post_id)
        entry = await _entry(blog.posts, post_id, item_id, str((known or {}).get("dismissedDate", "")))
        if _state(entry) == _state(known):
            return
        # Then everything is read again: another host can have erased a report while this write was on its way.
        with suppress(ItemExists, ItemMissing, ConditionFailed):
            if entry is None and known is not None:
                await blog.feed.delete(entry_id, ReportedItem.TYPE, etag=known["_etag"])
            elif entry is not None and known is None:
                await blog.feed.create(entry)
            elif entry is not None and known is not None:
                await blog.feed.replace(entry, etag=known["_etag"])
    raise NoProgress(f"the entry of the reported item {item_id} was written at the same time {COPY_ATTEMPTS} times")


def _state(entry: Item | None) -> list[Any] | None:
    return None if entry is None else [entry.get(name) for name in _CHANGING]


async def _entry(posts: Container, post_id: str, item_id: str, dismissed_date: str) -> Item | None:
    since = max(iso_utc(datetime.now(UTC) - timedelta(seconds=COUNTED_S)), dismissed_date)
    parameters = {"itemId": item_id, "since": since, "limit": MOST_COUNTED}
    reports = await posts.query(_REPORTS, parameters, partition_key=post_id, page_size=MOST_COUNTED)
    if not (reports or dismissed_date) or not await _is_marked(posts, post_id, item_id):
        return None
    return reported_item(post_id, item_id, reports, dismissed_date)


async def _is_marked(posts: Container, post_id: str, item_id: str) -> bool:
    """Mark a reported item, so that its deletion also deletes its entry. Return False if it is deleted."""
    found = await posts.query(_ITEM, {"itemId": item_id}, partition_key=post_id, page_size=1)
    if not found or found[0]["type"] not in (Post.TYPE, Comment.TYPE) or found[0].get("ttl", -1) != -1:
        return False
    if "isReported" not in found[0]:
        try:
            await posts.patch(
                item_id,
                post_id,
                patch_of({"isReported": True, **trace_property()}),
                predicate=_IS_LASTING,
            )
        except (ItemMissing, ConditionFailed):
            return False
    return True
