"""Callers of commands, what they can edit and delete, and the audit item of a deletion by a moderator.

Authors edit and delete what they have written, and delete the comments on their posts. A trusted back end edits posts,
and deletes all posts, comments and accounts. Moderators delete them, too, but give a reason, and an audit item records
it in the same transaction, so there is no deletion by a moderator without one. It has no content of what is deleted,
and expires after a year.
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
class BackEnd:
    """A trusted back end, which acts as any user."""


@dataclass(frozen=True)
class SignedIn:
    """A caller who signs in. `user` is the ID of the user they act as, who may not exist yet."""

    user: uuid.UUID
    is_moderator: bool = False

    def is_one_of(self, user_ids: Collection[str]) -> bool:
        """Return whether they act as one of these users."""
        return str(self.user) in user_ids


Caller = BackEnd | SignedIn


@dataclass(frozen=True)
class Deletion:
    """Who deletes something, and the reason, if they give one.

    With `bans`, the user of a deleted account cannot register again.
    """

    by: Caller
    reason: str = ""
    bans: bool = False


# Also by the app itself, such as the deletion of what a deleted user has written.
BY_BACK_END = Deletion(BackEnd())


def require_can_delete(deletion: Deletion, authors: Collection[str], refusal: str) -> bool:
    """Return whether the deletion needs an audit item: if it is a moderator's, or a back end gives a reason.

    Raises Forbidden with `refusal`, and MalformedRequest if the reason is missing.
    """
    by = deletion.by
    if isinstance(by, SignedIn) and by.is_one_of(authors):
        return False
    if isinstance(by, SignedIn) and not by.is_moderator:
        raise Forbidden(refusal)
    if not deletion.reason and (isinstance(by, SignedIn) or deletion.bans):
        raise MalformedRequest("Give a reason with the query parameter reason.")
    return bool(deletion.reason)


def audit_item(deletion: Deletion, item: Item, **partition: str) -> Item:
    """Return the record of the deletion of an item; `partition` is its partition key, by property name."""
    return {
        "id": f"audit:{uuid.uuid4()}",
        "type": AUDIT_TYPE,
        **partition,
        "itemId": item["id"],
        "itemType": item["type"],
        "authorId": item["userId"],
        "moderatorId": str(deletion.by.user) if isinstance(deletion.by, SignedIn) else "",
        "reason": deletion.reason,
        "isBan": deletion.bans,
        "creationDate": now(),
        "ttl": AUDIT_TTL_S,
    }
