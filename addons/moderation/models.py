"""A report by a reader, and the entry of a reported post or comment in the list that moderators see."""

from __future__ import annotations

import time
import uuid
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any, ClassVar, Final, Literal

from pydantic import AfterValidator, Field, StringConstraints

from shared.models.base import UserId
from shared.models.characters import check_text
from shared.platform.models import Date, Item, RequestModel, Resource, iso_utc

REASON_LENGTH: Final = 500
# How long a report counts, and how long an entry lasts after its latest report.
COUNTED_S: Final = 30 * 24 * 3600
# An entry keeps the latest reports only, so that it stays small.
MOST_COUNTED: Final = 100
REASONS_SHOWN: Final = 3

_NAMESPACE = uuid.UUID("b1f2a7a8-54f5-5a0f-8d27-6c0b8b0a4f11")

Reason = Annotated[
    str,
    StringConstraints(strip_whitespace=True),
    Field(min_length=1, max_length=REASON_LENGTH, examples=["This is an advertisement."]),
    AfterValidator(check_text),
]


class NewReport(RequestModel):
    """The body that reports a post or comment."""

    user_id: UserId
    reason: Reason


class Report(Resource):
    """A report in a response. `itemId` is the ID of the reported post or comment."""

    TYPE: ClassVar[str] = "report"

    id: str
    type: Literal["report"] = "report"
    post_id: str
    item_id: str
    user_id: UserId
    reason: str
    creation_date: Date


class ReportedItem(Resource):
    """A reported post or comment in a response, with its author, the title of its post, and the latest reasons.

    `creationDate` is the date of the latest report. `isEdited` says whether the author has edited the item since. Only
    the latest 100 reports of the last 30 days are counted. The reports of deleted users count, but have no reason.
    """

    TYPE: ClassVar[str] = "reported"

    id: str
    type: Literal["reported"] = "reported"
    post_id: str
    item_id: str
    user_id: UserId
    user_username: str
    title: str
    is_edited: bool
    report_count: Annotated[int, Field(ge=1, le=MOST_COUNTED)]
    reasons: list[str]
    creation_date: Date

    @classmethod
    def last_edit(cls, item: Mapping[str, Any]) -> str:
        """Return the date of the latest report as an ETag. Clients form it, because a list has none for its entries."""
        return f'"{item["creationDate"]}"'


def entry_id(post_id: str, item_id: str) -> str:
    """Return the ID of an entry. The ID of a comment alone is unique only in its post."""
    return str(uuid.uuid5(_NAMESPACE, f"{post_id}\n{item_id}"))


def entry_of(post_id: str, item_id: str, reports: Sequence[Item]) -> Item:
    """Return the entry of an item with these reports, at least one, oldest first."""
    latest = reports[-1]["creationDate"]
    return {
        "id": entry_id(post_id, item_id),
        "type": ReportedItem.TYPE,
        "postId": post_id,
        "itemId": item_id,
        "reports": [*reports],
        # Most reported first, then the latest.
        "rank": f"{len(reports):03} {latest}",
        "creationDate": latest,
        "ttl": COUNTED_S,
    }


def reported_item(entry: Item, item: Item, post: Item) -> Item:
    """Return what a response shows of an entry, its post or comment, and the post. Raises KeyError, TypeError."""
    reasons = [report["reason"] for report in reversed(entry["reports"]) if report["reason"]]
    return {
        **{name: entry[name] for name in ("id", "type", "postId", "itemId", "creationDate")},
        "userId": item["userId"],
        "userUsername": item.get("userUsername", ""),
        "title": post["title"],
        "isEdited": item.get("editedDate", "") > entry["creationDate"],
        "reportCount": len(entry["reports"]),
        "reasons": reasons[:REASONS_SHOWN],
    }


def still_counted(reports: Sequence[Item]) -> list[Item]:
    """Return the reports that are recent enough to count."""
    since = iso_utc(datetime.now(UTC) - timedelta(seconds=COUNTED_S))
    return [report for report in reports if report["creationDate"] > since]


def expiry_of(item: Item) -> Item:
    """Return the `ttl` with which a stored item expires no later if it is written again; nothing if it never does."""
    ttl = item.get("ttl") or -1
    age_s = max(0, int(time.time() - item["_ts"]))  # the clock of a host can be slow
    return {"ttl": max(1, ttl - age_s)} if ttl > 0 else {}


def without_reader(report: Item) -> Item:
    """Return the report of a deleted user, which still counts."""
    return report | {"userId": "", "reason": ""}
