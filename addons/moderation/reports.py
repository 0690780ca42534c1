"""Reports of posts and comments: report, list, dismiss, erase.

Each reported post or comment has one entry with all its reports, one per reader. All entries share a logical partition,
so the list is one query. An entry is written under its etag. A dismissal deletes it, and so does the list if its item
is gone; reports that come later start another entry.
"""

from __future__ import annotations

import asyncio
import logging
import random
from collections.abc import Collection
from contextlib import suppress
from typing import Any, Final

from addons.moderation.container import open_moderation
from addons.moderation.models import (
    MOST_COUNTED,
    NewReport,
    Report,
    ReportedItem,
    entry_id,
    entry_of,
    expiry_of,
    reported_item,
    still_counted,
    without_reader,
)
from shared.data.blog import Blog
from shared.data.comments import get_comment
from shared.data.posts import get_post
from shared.data.users import get_user
from shared.errors import CommentNotFound, PostNotFound, UserNotFound
from shared.models.user import is_deleted
from shared.platform.data.pages import Cursor, Page
from shared.platform.database.container import Container
from shared.platform.database.refusals import ConditionFailed, ItemExists, ItemMissing
from shared.platform.errors import DatabaseUnavailable, ItemDamaged, NotFound, Problem, VersionMismatch
from shared.platform.models import Item, is_item_id, now
from shared.platform.telemetry import log, trace_property

# Each write is conditional on the last one. All of 80 readers can report one post at once; of 200, up to 81 got a 503
# (emulator, 2026-11-28), which clients repeat.
_ATTEMPTS: Final = 20
_WAIT_S: Final = 0.02
_ERASED_AT_ONCE: Final = 100

_LISTED: Final = (
    "SELECT * FROM c WHERE c.type = @type {after}ORDER BY c.type DESC, c.rank DESC, c.id DESC OFFSET 0 LIMIT @limit"
)
_AFTER: Final = "AND c.rank <= @rank AND (c.rank < @rank OR c.id < @id) "
_BY_READER: Final = (
    "SELECT * FROM c WHERE c.type = @type AND ARRAY_CONTAINS(c.reports, {'userId': @userId}, true)"
    " OFFSET 0 LIMIT @limit"
)


class ReportNotFound(NotFound):
    """The list of reports has no entry with this ID."""

    problem = Problem(404, "Report not found")
    kind = "report"


async def create_report(
    blog: Blog, moderation: Container, post_id: str, comment_id: str | None, new: NewReport
) -> tuple[Item, bool]:
    """Return the reader's report, and whether it is new: at most five point reads and one write.

    A report stands, and a second one changes nothing, until the item is edited, the report is dismissed, or 30 days
    have passed. Raises UserNotFound, PostNotFound, CommentNotFound.
    """
    await get_user(blog.users, new.user_id)
    item_id, (item, _) = comment_id or post_id, await _item(blog, post_id, comment_id)
    report = {"userId": new.user_id, "reason": new.reason, "creationDate": now()}
    for attempt in range(_ATTEMPTS):
        await _wait(attempt)
        entry = await moderation.read_latest(entry_id(post_id, item_id), ReportedItem.TYPE)
        reports = still_counted(entry["reports"] if entry else [])
        own = next((each for each in reports if each["userId"] == new.user_id), None)
        if entry and own and own["creationDate"] > item.get("editedDate", ""):
            if own == report:  # the SDK resent a write whose response was lost
                await _require_reader(blog, moderation, entry, new.user_id)
            return _response(entry, own), own == report
        others = [each for each in reports if each is not own]
        wanted = entry_of(post_id, item_id, [*others, report][-MOST_COUNTED:]) | trace_property()
        with suppress(ItemExists, ItemMissing, ConditionFailed):
            if entry is None:
                written = await moderation.create(wanted)
            else:
                written = await moderation.replace(wanted, etag=entry["_etag"])
            await _require_reader(blog, moderation, written, new.user_id)
            return _response(written, report), True
    raise _written_at_the_same_time(entry_id(post_id, item_id))


async def _require_reader(blog: Blog, moderation: Container, entry: Item, user_id: str) -> None:
    """Withdraw a report whose reader was deleted while it was written: a read by the primary. Raises UserNotFound.

    If the reader is deleted after this read, the erasure finds the report.
    """
    user = await blog.users.read_latest(user_id, user_id)
    if user is not None and not is_deleted(user):
        return
    stored: Item | None = entry
    for attempt in range(_ATTEMPTS):
        await _wait(attempt)
        left = [report for report in stored["reports"] if report["userId"] != user_id] if stored else []
        with suppress(ItemMissing, ConditionFailed):
            if stored and left:
                shorter = entry_of(stored["postId"], stored["itemId"], left)
                await moderation.replace(shorter, etag=stored["_etag"])
            if left or stored is None or await forget(moderation, stored):
                break
        stored = await moderation.read_latest(entry["id"], ReportedItem.TYPE)
    raise UserNotFound(user_id)


async def list_reported(blog: Blog, moderation: Container, *, limit: int, cursor: Cursor | None) -> Page[Cursor]:
    """The most reported items: a query, and a point read of each post and comment.

    A page can be shorter than `limit`, because entries whose reports no longer count are left out, as are entries of
    deleted items, which are deleted.
    """
    parameters: dict[str, object] = {"type": ReportedItem.TYPE, "limit": limit + 1}
    if cursor is not None:
        parameters |= {"rank": cursor.creation_date, "id": cursor.id}
    text = _LISTED.format(after=_AFTER if cursor else "")
    entries = await moderation.query(text, parameters, partition_key=ReportedItem.TYPE, page_size=limit + 1)
    shown = await asyncio.gather(*(_shown(blog, moderation, entry) for entry in entries[:limit]))
    last = entries[limit - 1] if len(entries) > limit else None
    return Page([item for item in shown if item], last and Cursor(str(last["rank"]), last["id"]))


async def _shown(blog: Blog, moderation: Container, entry: Item) -> Item | None:
    """Return what a response shows of an entry; None if no report counts, or its item is gone or damaged."""
    try:
        counted = still_counted(entry["reports"])
        if not counted:
            return None
        item_id, post_id = entry["itemId"], entry["postId"]
        item, post = await _item(blog, post_id, item_id if item_id != post_id else None)
        shown = reported_item(entry | {"reports": counted}, item, post)
        ReportedItem.from_item(shown)
    except (PostNotFound, CommentNotFound):
        if await is_gone(blog, entry):
            await forget(moderation, entry)
        return None
    except (ItemDamaged, KeyError, TypeError) as error:
        log(logging.ERROR, "damaged item left out", reason=f"entry {entry['id']}: {error!r}")
        return None
    return shown


async def dismiss(moderation: Container, report_id: str, *, if_match: Collection[str] | None) -> None:
    """Take an item off the list until it is reported again: a point read and a write.

    Raises ReportNotFound, and VersionMismatch unless `if_match` has the date of the latest report, so that a moderator
    dismisses only what they have seen.
    """
    for attempt in range(_ATTEMPTS):
        await _wait(attempt)
        entry = await moderation.read_latest(report_id, ReportedItem.TYPE) if is_item_id(report_id) else None
        if entry is None:
            raise ReportNotFound(report_id)
        if if_match is not None and ReportedItem.last_edit(entry) not in if_match:
            raise VersionMismatch
        if await forget(moderation, entry):
            return
    raise _written_at_the_same_time(report_id)


async def forget(moderation: Container, entry: Item) -> bool:
    """Delete an entry unless it has changed since it was read: one write. Return whether it is gone."""
    try:
        await moderation.delete(entry["id"], ReportedItem.TYPE, etag=entry["_etag"])
    except ItemMissing:  # somebody else has deleted it, or the SDK sent the deletion twice
        return True
    except ConditionFailed:
        return False
    return True


async def erase_reports_by(user_id: str) -> None:
    """Remove a deleted user and their reasons from all entries, as a hook of the erasure."""
    await erase_reports(await open_moderation(), user_id)


async def erase_reports(moderation: Container, user_id: str) -> None:
    """Remove a deleted user and their reasons: a query of the partition, and a write for each entry.

    The entries stay, because no moderator may have seen them yet.
    """
    await moderation.catch_up(ReportedItem.TYPE)
    parameters = {"type": ReportedItem.TYPE, "userId": user_id, "limit": _ERASED_AT_ONCE}
    refused = 0
    while refused < _ATTEMPTS:
        entries = await moderation.query(
            _BY_READER, parameters, partition_key=ReportedItem.TYPE, page_size=_ERASED_AT_ONCE
        )
        if not entries:
            return
        is_erased = False
        for entry in entries:
            left = [without_reader(each) if _is_by(each, user_id) else each for each in entry["reports"]]
            with suppress(ItemMissing, ConditionFailed):  # read again
                await moderation.replace(entry | {"reports": left} | expiry_of(entry), etag=entry["_etag"])
                is_erased = True
        refused += not is_erased
        await _wait(refused)
    raise _written_at_the_same_time(user_id)


async def is_gone(blog: Blog, entry: Item) -> bool:
    """Return whether the post or comment of an entry is deleted: a read by the primary, and one or two point reads."""
    await blog.posts.catch_up(entry["postId"])
    comment_id = entry["itemId"] if entry["itemId"] != entry["postId"] else None
    try:
        await _item(blog, entry["postId"], comment_id)
    except (PostNotFound, CommentNotFound):
        return True
    except ItemDamaged:
        return False
    return False


async def _item(blog: Blog, post_id: str, comment_id: str | None) -> tuple[Item, Item]:
    """Return the post or comment, and the post: one or two point reads. Raises PostNotFound, CommentNotFound."""
    post = await get_post(blog.posts, post_id)
    return (post if comment_id is None else await get_comment(blog.posts, post_id, comment_id)), post


def _is_by(report: Any, user_id: str) -> bool:
    """Return whether a report, which can be damaged, is by this reader."""
    return isinstance(report, dict) and report.get("userId") == user_id


def _response(entry: Item, report: Item) -> Item:
    place = {name: entry[name] for name in ("postId", "itemId", "_etag")}
    return {"id": entry["id"], "type": Report.TYPE, **place, **report}


async def _wait(attempt: int) -> None:
    if attempt:
        await asyncio.sleep(random.uniform(0, _WAIT_S * attempt))  # noqa: S311 - jitter


def _written_at_the_same_time(item_id: str) -> DatabaseUnavailable:
    return DatabaseUnavailable(f"the reports of {item_id} were written at the same time {_ATTEMPTS} times")
