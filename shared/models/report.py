"""Reports of posts and comments by readers, and the list of reported items that moderators see."""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field

from shared.models.base import (
    DELETED_TTL_S,
    Date,
    Item,
    ItemOfPost,
    Reason,
    RequestModel,
    Resource,
    UserId,
    now,
)

# How long a report counts, and how long an entry of the list lasts after its last change.
COUNTED_S = 30 * 24 * 3600
# Reports outlive all entries with their reasons, so that the deletion of a reader's account finds the entries, too.
REPORT_TTL_S = 2 * COUNTED_S + 24 * 3600
# More reports of one item are neither read nor counted, so that their number does not make the list expensive.
MOST_COUNTED = 100
REASONS_SHOWN = 3
# The least `rank` of an entry with reports.
LEAST_RANK = "001"

_NAMESPACE = uuid.UUID("b1f2a7a8-54f5-5a0f-8d27-6c0b8b0a4f11")


class NewReport(RequestModel):
    """The body that reports a post or comment."""

    user_id: UserId
    reason: Reason


class Report(ItemOfPost):
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
    """A reported post or comment in a response, with its latest reasons. Reports beyond 100 are not counted."""

    TYPE: ClassVar[str] = "reported"

    id: str
    type: Literal["reported"] = "reported"
    post_id: str
    item_id: str
    report_count: Annotated[int, Field(ge=1, le=MOST_COUNTED)]
    reasons: list[str]
    creation_date: Date

    @classmethod
    def last_edit(cls, item: Mapping[str, Any]) -> str:
        """Return the date of the latest report as an ETag. Clients form it, because a list has none for its entries."""
        return f'"{item["creationDate"]}"'

    @classmethod
    def projection(cls) -> str:
        """Return the SELECT list, with the position in the list for its cursor."""
        return f"{super().projection()}, c.rank"


def report_item(post_id: str, item_id: str, author: Item, new: NewReport, creation_date: str) -> Item:
    """Return the item of a report, of which each account can have one per reported item."""
    version = {name: author[name] for name in ("nameVersion",) if name in author}
    return {
        "id": f"report:{uuid.uuid5(_NAMESPACE, _joined(item_id, author['id'], author['creationDate']))}",
        "type": Report.TYPE,
        "postId": post_id,
        "itemId": item_id,
        "userId": author["id"],
        **version,
        "reason": new.reason,
        "creationDate": creation_date,
        "ttl": REPORT_TTL_S,
    }


def removal_notice(item: Item, post_id: str) -> Item:
    """Return the report, without a reader, that tells the change feed about the deletion of a reported comment."""
    return {
        "id": f"report:{uuid.uuid4()}",
        "type": Report.TYPE,
        "postId": post_id,
        "itemId": item["id"],
        "userId": "",
        "reason": "",
        "creationDate": now(),
        "ttl": DELETED_TTL_S,
    }


def reported_item(post_id: str, item_id: str, reports: Sequence[Item], dismissed_date: str = "") -> Item:
    """Return the entry of the list for an item with these reports, newest first.

    A dismissed entry has the date of the latest report that it had, and is not listed without later reports.
    """
    latest = reports[0]["creationDate"] if reports else dismissed_date
    return {
        "id": reported_item_id(post_id, item_id),
        "type": ReportedItem.TYPE,
        "postId": post_id,
        "itemId": item_id,
        "reportCount": len(reports),
        "reasons": [report["reason"] for report in reports[:REASONS_SHOWN]],
        # Most reported first, then the latest.
        "rank": f"{len(reports):03} {latest}",
        "creationDate": latest,
        **({"dismissedDate": dismissed_date} if dismissed_date else {}),
        "ttl": COUNTED_S,
    }


def reported_item_id(post_id: str, item_id: str) -> str:
    """Return the ID of an entry. That of a comment alone is unique in its post only."""
    return str(uuid.uuid5(_NAMESPACE, _joined(post_id, item_id)))


def _joined(*ids: str) -> str:
    return "\n".join(ids)
