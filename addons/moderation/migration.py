"""Moves what earlier versions stored of the moderation in `users`, `posts` and `feed`, which now has a container.

Every step can be repeated. docs/upgrade.md says when to run it. Delete this module once no such database is left.
"""

from __future__ import annotations

from collections import defaultdict
from contextlib import suppress
from typing import Final

from addons.moderation.deletions import AUDIT_TYPE, ban
from addons.moderation.models import MOST_COUNTED, ReportedItem, entry_id, entry_of, expiry_of, still_counted
from addons.moderation.verification import rebuild
from management.verification.prefixed_texts import restored_texts
from shared.data.blog import Blog
from shared.models.base import DELETED_TYPE
from shared.platform.data import idempotency
from shared.platform.database.container import Container
from shared.platform.database.refusals import ConditionFailed, ItemExists, ItemMissing
from shared.platform.models import Item

_BANNED: Final = (
    "SELECT c.id FROM c WHERE c.type = @deleted AND c.isBanned = true AND (NOT IS_DEFINED(c.ttl) OR c.ttl != -1)"
)
_OF_TYPE: Final = "SELECT * FROM c WHERE c.type = @type"
_REPORT_TYPE: Final = "report"
# Reports had idempotency keys, and need none now.
_RECORDS: Final = "SELECT c.id, c.postId, c._etag FROM c WHERE c.type = @type AND STARTSWITH(c.result.id, 'report:')"
_PAGE_SIZE: Final = 1000
_MOVED: Final = (
    *("id", "type", "itemId", "itemType", "authorId", "moderatorId", "reason", "isBan", "creationDate", "ttl"),
)


async def keep_bans(blog: Blog) -> int:
    """Let the tombstones of banned users never expire; return how many. Do it before the new version is deployed.

    They keep `isBanned`, by which the former version knows them until then.
    """
    rows = [row async for row in blog.users.query_across(_BANNED, {"deleted": DELETED_TYPE}, page_size=_PAGE_SIZE)]
    return sum([await ban(blog.users, row["id"]) for row in rows])


async def move_audit_items(blog: Blog, moderation: Container) -> int:
    """Move the audit items from `users` and `posts`; return how many."""
    moved = 0
    for source, key in ((blog.users, "userId"), (blog.posts, "postId")):
        async for item in source.query_across(_OF_TYPE, {"type": AUDIT_TYPE}, page_size=_PAGE_SIZE):
            copy = {name: item[name] for name in _MOVED} | {"reason": _as_sent(item["reason"]), "itemDate": ""}
            copy |= expiry_of(item)
            with suppress(ItemExists):
                await moderation.create(copy)
            await _delete(source, item, item[key])
            moved += 1
    return moved


async def move_reports(blog: Blog, moderation: Container) -> int:
    """Move the reports from `posts`, and delete the entries in `feed`; return how many there were.

    Reports that were dismissed, or are older than 30 days, are deleted.
    """
    entries = [
        item async for item in blog.feed.query_across(_OF_TYPE, {"type": ReportedItem.TYPE}, page_size=_PAGE_SIZE)
    ]
    dismissed = {(entry["postId"], entry["itemId"]): str(entry.get("dismissedDate", "")) for entry in entries}
    found = [item async for item in blog.posts.query_across(_OF_TYPE, {"type": _REPORT_TYPE}, page_size=_PAGE_SIZE)]
    by_item: defaultdict[tuple[str, str], list[Item]] = defaultdict(list)
    for report in found:
        by_item[report["postId"], report["itemId"]].append(report)
    for (post_id, item_id), reports in by_item.items():
        reports.sort(key=lambda report: str(report["creationDate"]))
        standing = {  # the latest of each reader, who had one for each of their accounts
            report["userId"]: {name: report[name] for name in ("userId", "creationDate")}
            | {"reason": _as_sent(report["reason"])}
            for report in still_counted(reports)
            if report["reason"] and report["creationDate"] > dismissed.get((post_id, item_id), "")
        }
        await _merge(moderation, post_id, item_id, [*standing.values()])
        for report in reports:
            await _delete(blog.posts, report, post_id)
    async for record in blog.posts.query_across(_RECORDS, {"type": idempotency.TYPE}, page_size=_PAGE_SIZE):
        await _delete(blog.posts, record, record["postId"])
    for entry in entries:
        await _delete(blog.feed, entry, ReportedItem.TYPE)
    # The new version erases no reports in `posts`, so their readers can be deleted users.
    await rebuild(blog, moderation)
    return len(found)


async def _merge(moderation: Container, post_id: str, item_id: str, reports: list[Item]) -> None:
    """Add reports to the entry of an item; reports of readers who have reported it since are left out."""
    while reports:
        entry = await moderation.read_latest(entry_id(post_id, item_id), ReportedItem.TYPE)
        known: list[Item] = entry["reports"] if entry else []
        readers = {report["userId"] for report in known}
        merged = [*known, *(report for report in reports if report["userId"] not in readers)]
        merged.sort(key=lambda report: str(report["creationDate"]))
        wanted = entry_of(post_id, item_id, merged[-MOST_COUNTED:])
        with suppress(ItemExists, ItemMissing, ConditionFailed):  # a reader reports it at the same time
            if entry is None:
                await moderation.create(wanted)
            else:
                await moderation.replace(wanted, etag=entry["_etag"])
            return


def _as_sent(reason: str) -> str:
    """Return a reason without the prefix that texts like dates had."""
    return restored_texts({"content": reason}).get("content", reason)


async def _delete(container: Container, item: Item, partition_key: str) -> None:
    with suppress(ItemMissing, ConditionFailed):
        await container.delete(item["id"], partition_key, etag=item["_etag"])
