"""Broken promises, as `verify` reports them."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Kind(Enum):
    """What is wrong, in the order of the report. Those from UNCONFIRMED on are for information: nothing is broken."""

    MALFORMED = "Items that are not as the blog writes them"
    COUNT = "Counts that differ from the comments and likes"
    NAME = "Names that differ from the user's"
    COPY_MISSING = "Posts without their copy in users"
    COPY_STALE = "Copies in users that differ from the post"
    COPY_ORPHANED = "Copies in users without a post"
    FEED_MISSING = "Posts that are missing in the feed"
    FEED_STALE = "Copies in the feed that differ from the post"
    FEED_SURPLUS = "Copies in the feed that do not belong there"
    LEFTOVER = "What posts that are gone left behind"
    RESERVATION = "Names and reservations that do not fit"
    RENAME = "Renames that have not been carried to their end"
    UNCONFIRMED = "Reservations that nobody has confirmed (they expire)"
    FAILURE = "Changes kept as failures"

    @property
    def is_broken(self) -> bool:
        return self not in (Kind.UNCONFIRMED, Kind.FAILURE)


@dataclass(frozen=True)
class Finding:
    """One promise that is broken, or one thing to know: whose (kind and id), and in what way."""

    kind: Kind
    subject: str
    detail: str

    def __str__(self) -> str:
        return f"{self.subject}: {self.detail}"


def in_order(findings: list[Finding]) -> list[Finding]:
    """By kind, in the order of the kinds, then by subject."""
    order = {kind: place for place, kind in enumerate(Kind)}
    return sorted(findings, key=lambda finding: (order[finding.kind], finding.subject, finding.detail))
