"""The audit items of deletions by moderators."""

from __future__ import annotations

import json

from management.terminal import printable, say
from shared.data.blog import Blog
from shared.data.permissions import AUDIT_TYPE
from shared.models.base import Item
from shared.models.user import User

_AUDIT = "SELECT * FROM c WHERE c.type = @type"
_PAGE_SIZE = 1000
_SHOWN = ("creationDate", "itemType", "itemId", "authorId", "moderatorId", "isBan", "reason")


async def list_audit(blog: Blog) -> list[Item]:
    """Return the audit items of the last year, oldest first: a query of all partitions of two containers."""
    found = [
        item
        for container in (blog.users, blog.posts)
        async for item in container.query_across(_AUDIT, {"type": AUDIT_TYPE}, page_size=_PAGE_SIZE)
    ]
    return sorted(found, key=lambda item: (str(item.get("creationDate")), item["id"]))


def say_audit(items: list[Item], *, as_json: bool) -> None:
    """Print audit items as lines of text or as JSON lines."""
    for item in items:
        shown = {name: item.get(name) for name in _SHOWN}
        if as_json:
            say(json.dumps(shown, ensure_ascii=True))
            continue
        by = f"moderator {item['moderatorId']}" if item.get("moderatorId") else "a back end"
        ban = " and banned them" if item.get("isBan") else ""
        what = "account" if item.get("itemType") == User.TYPE else f"{item.get('itemType')} {item.get('itemId')}"
        deleted = f"{by} deleted the {what} of the user {item.get('authorId')}{ban}"
        say(printable(f"{item.get('creationDate')}  {deleted}: {item.get('reason')}"))
    if not as_json:
        number = len(items)
        say(f"{number:,} recorded {'deletion' if number == 1 else 'deletions'}." if items else "No recorded deletions.")
