"""Idempotency: the IDs of new items, and one record per command with a key, written in the command's transaction.

A record is in the logical partition of the item that its command creates, and expires after 24 hours. Its fingerprint
tells a retry from another request with the same key.
"""

from __future__ import annotations

import hashlib
import uuid

from shared.platform.database.container import Container
from shared.platform.database.refusals import BatchRefused
from shared.platform.errors import IdempotencyKeyReused
from shared.platform.models import Item, RequestModel

TYPE = "idempotency"
TTL_S = 24 * 3600

_NAMESPACE = uuid.UUID("6f0c3c1e-6a39-5a0e-9a53-5d1c9f3e7a10")


def new_id(kind: str, idempotency_key: str | None, *scope: str) -> str:
    """Return a random ID, or the one derived from the idempotency key within `scope`, which must name the caller.

    A retried command derives the same ID, so the database refuses to create its item twice.
    """
    if idempotency_key is None:
        return str(uuid.uuid4())
    return str(uuid.uuid5(_NAMESPACE, "\n".join((kind, *scope, idempotency_key))))


def idempotency_record(command_id: str, request: RequestModel, **partition: str) -> Item:
    """Return the record of a command; `partition` is its partition key, by property name."""
    return {
        "id": f"idempotency:{command_id}",
        "type": TYPE,
        **partition,
        "fingerprint": hashlib.sha256(request.model_dump_json().encode()).hexdigest()[:32],
        "ttl": TTL_S,
    }


async def create_recorded(container: Container, item: Item, record: Item | None, partition_key: str) -> Item:
    """Create the item, and its record if there is one: one write or one batch. Raises ItemExists."""
    if record is None:
        return await container.create(item)
    try:
        created, _ = await container.batch(partition_key, [("create", (item,)), ("create", (record,))])
    except BatchRefused as refused:
        raise refused.reason from refused
    return created


async def is_recorded(container: Container, record: Item, partition_key: str) -> bool:
    """Return whether the command ran in the last 24 hours: one point read. Raises IdempotencyKeyReused."""
    stored = await container.read(record["id"], partition_key)
    if stored is not None and stored.get("fingerprint") != record["fingerprint"]:
        raise IdempotencyKeyReused
    return stored is not None


async def require_recorded(container: Container, record: Item | None, partition_key: str) -> None:
    """Return if an item that exists already was created by this command. Raises IdempotencyKeyReused.

    Costs a point read. Without a record, the ID is random, so only the SDK can have sent the creation twice. If the
    record is missing, it has expired: a later command with the same key must not return the old item.
    """
    if record is not None and not await is_recorded(container, record, partition_key):
        raise IdempotencyKeyReused
