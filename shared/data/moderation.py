"""Deletions: who can delete what, and the audit item of a deletion by a moderator.

Authors delete what they have written, and the comments on their posts. A trusted back end and moderators delete all
posts, comments and accounts. A moderator gives a reason, and an audit item records it in the same transaction, so there
is no deletion by a moderator without one. It has no content of what is deleted, and expires after a year.
"""

from __future__ import annotations

import uuid
from collections.abc import Collection
from dataclasses import dataclass

from shared.errors import Forbidden, MalformedRequest
from shared.models.base import Item, now

AUDIT_TYPE = "audit"
AUDIT_TTL_S = 366 * 24 * 3600


@dataclass(frozen=True)
class Deleter:
    """Who deletes something, and a moderator's reason. `user` is None for a trusted back end.

    With `bans`, the user of a deleted account cannot register again.
    """

    user: uuid.UUID | None = None
    is_moderator: bool = False
    reason: str = ""
    bans: bool = False

    @property
    def is_author(self) -> bool:
        """Whether they can delete only what is theirs."""
        return self.user is not None and not self.is_moderator


BACK_END = Deleter()


def require_can_delete(deleter: Deleter, authors: Collection[str], refusal: str) -> bool:
    """Return whether the deletion needs an audit item: if it is a moderator's, or a back end gives a reason.

    Raises Forbidden with `refusal`, and MalformedRequest if the reason is missing.
    """
    if deleter.user is not None and str(deleter.user) in authors:
        return False
    if deleter.is_author:
        raise Forbidden(refusal)
    if not deleter.reason and (deleter.is_moderator or deleter.bans):
        raise MalformedRequest("Give a reason with the query parameter reason.")
    return bool(deleter.reason)


def audit_item(deleter: Deleter, item: Item, **partition: str) -> Item:
    """Return the record of the deletion of an item; `partition` is its partition key, by property name."""
    return {
        "id": f"audit:{uuid.uuid4()}",
        "type": AUDIT_TYPE,
        **partition,
        "itemId": item["id"],
        "itemType": item["type"],
        "authorId": item["userId"],
        "moderatorId": str(deleter.user or ""),
        "reason": deleter.reason,
        "isBan": deleter.bans,
        "creationDate": now(),
        "ttl": AUDIT_TTL_S,
    }
