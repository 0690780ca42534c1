"""What `verify` and `rebuild` do with the container of the moderation."""

from __future__ import annotations

import time
from collections.abc import Iterable
from contextlib import suppress
from typing import Any, Final

from addons.moderation import container, deletions, models, reports
from management.addons import Addon
from management.item_count import ItemCount, number_of_items
from management.verification.findings import EDIT_ITEM, REBUILD, Finding, Kind
from shared.data.blog import Blog
from shared.models.base import DELETED_TYPE
from shared.models.user import is_deleted
from shared.platform.database.container import Container
from shared.platform.database.refusals import ConditionFailed, ItemMissing
from shared.platform.deliveries.concurrency import for_each
from shared.platform.models import Item, is_item_id, is_whole_number, parse_moment

_ALL: Final = "SELECT * FROM c"
_PAGE_SIZE: Final = 100
# Bans of earlier versions have `isBanned`. A recorded ban is in an audit item until it expires.
_BANNED: Final = "SELECT c.id, c._ts FROM c WHERE c.type = @deleted AND c.ttl = -1 AND NOT IS_DEFINED(c.isBanned)"
_LIFT: Final = "If this is a mistake, set the `ttl` of the user's item to 2592000 in the account's Data Explorer."
_AUDIT_TEXTS: Final = ("itemId", "itemType", "authorId", "moderatorId", "reason")


async def verify(blog: Blog, moderation: Container, count: ItemCount) -> list[Finding]:
    """Return what is wrong with entries, audit items and bans.

    Costs a query of `users`, and a point read for each reader and each reported item.
    """
    count.expect(await number_of_items(moderation))
    findings: list[Finding] = []
    entries: list[Item] = []
    banned = set[str]()
    async for item in moderation.query_across(_ALL, {}, page_size=_PAGE_SIZE):
        count.add(1)
        fault = _fault_of(item)
        if fault:
            advice = REBUILD if _is_repairable(item) else EDIT_ITEM
            findings.append(Finding(Kind.MALFORMED, f"{container.NAME} {item['id']}", fault, advice))
        elif item["type"] == models.ReportedItem.TYPE:
            entries.append(item)
        elif item.get("isBan"):
            banned.add(item["authorId"])

    async def see_reader(user_id: str) -> None:
        if not await _exists(blog, user_id):
            findings.append(Finding(Kind.DELETION, f"user {user_id}", "a report of the deleted user has their reason"))

    async def see_entry(entry: Item) -> None:
        if await reports.is_gone(blog, entry):
            subject = f"{'post' if entry['itemId'] == entry['postId'] else 'comment'} {entry['itemId']}"
            findings.append(Finding(Kind.REPORT, subject, f"{len(entry['reports'])} reported it", ""))

    await for_each(_readers(entries), see_reader)
    await for_each(entries, see_entry)
    recorded_since = time.time() - deletions.AUDIT_TTL_S
    return findings + [
        Finding(Kind.BAN, f"user {user['id']}", "their tombstone never expires", _LIFT)
        async for user in blog.users.query_across(_BANNED, {"deleted": DELETED_TYPE}, page_size=_PAGE_SIZE)
        if user["id"] not in banned and user["_ts"] > recorded_since
    ]


async def rebuild(blog: Blog, moderation: Container) -> None:
    """Write the entries again that differ from their reports, and erase the reports of deleted users.

    Deletes the entries of deleted posts and comments.
    """
    stored = [item async for item in moderation.query_across(_ALL, {}, page_size=_PAGE_SIZE)]
    entries = [item for item in stored if item.get("type") == models.ReportedItem.TYPE]
    sound = [entry for entry in entries if _are_reports(entry.get("reports")) and _names_item(entry)]

    async def repair(entry: Item) -> None:
        if await reports.is_gone(blog, entry):
            await reports.forget(moderation, entry)
        elif _fault_of(entry) and _is_repairable(entry):
            with suppress(ItemMissing, ConditionFailed):  # changed since
                wanted = models.entry_of(entry["postId"], entry["itemId"], entry["reports"][-models.MOST_COUNTED :])
                await moderation.replace(wanted, etag=entry["_etag"])

    async def erase(user_id: str) -> None:
        if not await _exists(blog, user_id):
            await reports.erase_reports(moderation, user_id)

    # An erasure changes the entries, so it comes last.
    await for_each(sound, repair)
    await for_each(_readers(sound), erase)


ADDON: Final = Addon(container.NAME, verify, rebuild, reports.erase_reports)


def _readers(entries: Iterable[Item]) -> list[str]:
    found = (report["userId"] for entry in entries for report in entry["reports"])
    return [user_id for user_id in dict.fromkeys(found) if user_id]


async def _exists(blog: Blog, user_id: str) -> bool:
    user = await blog.users.read_latest(user_id, user_id) if is_item_id(user_id) else None
    return user is not None and not is_deleted(user)


def _fault_of(item: Item) -> str:
    """Return what is wrong with an item by itself; empty if it is what the app writes."""
    if item.get("type") == deletions.AUDIT_TYPE:
        faults = [f"{name} must be a text" for name in _AUDIT_TEXTS if not isinstance(item.get(name), str)]
        faults += [] if _is_date(item.get("creationDate")) else ["creationDate must be in ISO 8601"]
        faults += [] if _expires_within(item, deletions.AUDIT_TTL_S) else ["ttl must be 1 s to a year"]
        return "; ".join(faults)
    if item.get("type") != models.ReportedItem.TYPE:
        return "unknown type"
    if not _names_item(item) or not _are_reports(item.get("reports")):
        return "its reports, its itemId or its postId are damaged"
    wanted = models.entry_of(item["postId"], item["itemId"], item["reports"])
    faults = [name for name in wanted if name != "ttl" and item.get(name) != wanted[name]]
    faults += [] if _expires_within(item, models.COUNTED_S) else ["ttl"]
    faults += [] if len(item["reports"]) <= models.MOST_COUNTED else ["reports"]
    return f"not what follows from its reports: {', '.join(faults)}" if faults else ""


def _is_repairable(item: Item) -> bool:
    """Return whether an item is an entry whose other properties follow from its reports."""
    if item.get("type") != models.ReportedItem.TYPE or not _names_item(item) or not _are_reports(item.get("reports")):
        return False
    return models.entry_id(item["postId"], item["itemId"]) == str(item["id"])


def _names_item(entry: Item) -> bool:
    return all(isinstance(entry.get(name), str) and is_item_id(entry[name]) for name in ("postId", "itemId"))


def _are_reports(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(map(_is_report, value))


def _is_report(value: Any) -> bool:
    if not isinstance(value, dict) or not _is_date(value.get("creationDate")):
        return False
    return all(isinstance(value.get(name), str) for name in ("userId", "reason"))


def _is_date(value: Any) -> bool:
    with suppress(TypeError, ValueError):
        parse_moment(value)
        return True
    return False


def _expires_within(item: Item, seconds: int) -> bool:
    ttl = item.get("ttl")
    return is_whole_number(ttl) and 0 < ttl <= seconds
