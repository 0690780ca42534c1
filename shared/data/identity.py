"""The ids and dates that the server makes."""

from __future__ import annotations

import uuid
from datetime import UTC, datetime

from shared.models.fields import iso_utc

_NAMESPACE = uuid.UUID("6f0c3c1e-6a39-5a0e-9a53-5d1c9f3e7a10")


def new_id(kind: str, *, key: str | None, owner: str) -> str:
    """The id of something new.

    With an idempotency `key` it is the command's: a repeated command makes the same id, so that the database itself
    refuses the second one and the first one's result can be returned.
    """
    return command_id(kind, key=key, owner=owner) or str(uuid.uuid4())


def command_id(kind: str, *, key: str | None, owner: str) -> str | None:
    """What a command and its repetitions have in common: made from the kind, the idempotency key and the owner (the
    user who asks). None for a command without a key, which cannot be told from another."""
    return None if key is None else str(uuid.uuid5(_NAMESPACE, "\n".join((kind, owner, key))))


def new_edit_id() -> str:
    """What the item that an edit writes keeps of it, so that the edit can tell its own work from another's."""
    return uuid.uuid4().hex


def now() -> str:
    """The present moment in the blog's one date format."""
    return iso_utc(datetime.now(UTC))
