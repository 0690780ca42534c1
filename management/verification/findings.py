"""Findings of `verify`."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Kind(Enum):
    """Kinds in report order. Some are informational, such as PREFIXED, because readers can write the prefix, too."""

    ACCOUNT = "Unsuitable account"
    CONTAINER = "Unsuitable containers"
    MALFORMED = "Malformed items"
    EXPIRING = "Items that expire"
    PREFIXED = "Texts in the form of an earlier version"
    COUNT = "Wrong comment or like counts"
    NAME = "Wrong usernames"
    COPY_MISSING = "Posts without a copy in users"
    COPY_STALE = "Stale copies in users"
    COPY_ORPHANED = "Copies in users without a post"
    FEED_MISSING = "Posts missing from the feed"
    FEED_STALE = "Stale copies in the feed"
    FEED_SURPLUS = "Copies that do not belong in the feed"
    LEFTOVER = "Leftovers of deleted posts"
    RESERVATION = "Missing or wrong username reservations"
    RENAME = "Unfinished renames"
    DELETION = "Unfinished deletions of users"
    ABANDONED = "Abandoned reservations (anyone can register the username)"
    FAILURE = "Failed changes"
    REPORT = "Reports of posts and comments that are deleted"
    BAN = "Deleted users who can never return, although nobody banned them"

    @property
    def is_broken(self) -> bool:
        return self not in (Kind.PREFIXED, Kind.ABANDONED, Kind.FAILURE, Kind.REPORT, Kind.BAN)


REBUILD = "Run `manage.py rebuild`."
EDIT_ITEM = (
    "Open the item in the account's Data Explorer, and repair the field or delete the item. Then run"
    " `manage.py rebuild`."
)

NEW_ID = (
    "Create the item again with another ID, delete this one in a transactional batch, because no URL can carry its ID"
    " (docs/reliability.md), and run `manage.py rebuild`."
)


@dataclass(frozen=True)
class Finding:
    """A violation: `advice` says how to repair it, and `number` is the number of items that it affects."""

    kind: Kind
    subject: str
    detail: str
    advice: str = REBUILD
    number: int = 1

    def __str__(self) -> str:
        return f"{self.subject}: {self.detail}"


def in_order(findings: list[Finding]) -> list[Finding]:
    order = {kind: place for place, kind in enumerate(Kind)}
    return sorted(findings, key=lambda finding: (order[finding.kind], finding.subject, finding.detail))
