"""Ids and dates that the server generates."""

from __future__ import annotations

import uuid
from datetime import UTC, datetime

from shared.models.fields import iso_utc

_NAMESPACE = uuid.UUID("6f0c3c1e-6a39-5a0e-9a53-5d1c9f3e7a10")


def new_id(kind: str, idempotency_key: str | None, *scope: str) -> str:
    """Return the id of a new item: derived from the idempotency key, or random.

    A retried command derives the same id, so the database refuses to create its item twice. `scope` is what the key is
    unique within, such as the user.
    """
    if idempotency_key is None:
        return str(uuid.uuid4())
    return str(uuid.uuid5(_NAMESPACE, "\n".join((kind, *scope, idempotency_key))))


def new_edit_id() -> str:
    """Return a random id that an edit stores in its item, to recognize its own write."""
    return uuid.uuid4().hex


def now() -> str:
    """Return the current time in the blog's date format."""
    return iso_utc(datetime.now(UTC))
