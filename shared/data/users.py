"""Users: create, rename, delete, read. A user shares a logical partition of `users` with the copies of their posts.

A command reads the name of its author, who can be renamed or deleted before the command writes. The posts change feed
therefore compares each item with its author (shared/propagation/posts.py).
"""

from __future__ import annotations

import asyncio
import random
import uuid
from collections.abc import Awaitable, Callable, Collection
from contextlib import suppress

from shared.data.username_reservations import give_back, reservation_id, reserve
from shared.errors import AccountDeleted, AlreadyRegistered, UserNotFound
from shared.models.user import (
    NewUser,
    User,
    UserChanges,
    is_deleted,
    next_registration,
    renamed,
    tombstone_of,
    user_item,
)
from shared.platform.data.idempotency import create_recorded, idempotency_record, is_recorded, new_id
from shared.platform.database.container import Container
from shared.platform.database.refusals import ConditionFailed, ItemExists
from shared.platform.errors import DatabaseUnavailable, IdempotencyKeyReused, VersionMismatch
from shared.platform.models import Item, is_item_id, now
from shared.platform.telemetry import trace_property

# Edits of one user that meet other edits, each after a jittered wait of up to RENAME_WAIT_S × n.
RENAME_ATTEMPTS = 10
RENAME_WAIT_S = 0.02


async def create_user(users: Container, new: NewUser, *, idempotency_key: str | None) -> Item:
    """C1: two writes, the reservation of the username and the user; with a key, also a point read.

    A crash between the two leaves the reservation (shared/data/username_reservations.py). All callers share one scope
    of idempotency keys, because there is no user yet. Raises UsernameTaken, IdempotencyKeyReused.
    """
    user_id = new_id("user", idempotency_key)
    record = idempotency_record(user_id, new, userId=user_id) if idempotency_key else None
    user = await _create(users, user_item(user_id, new.username, now()), record)
    if user is None:
        raise IdempotencyKeyReused  # more than 24 hours ago
    return user


async def register_user(users: Container, new: NewUser, *, user_id: str, idempotency_key: str | None) -> Item:
    """C1 for a caller who signs in, whose user has a fixed ID: a point read and two writes.

    Concurrent registrations create one user, and the others release their usernames. A registration without a key
    gets a random one. If the SDK resends the write because its response was lost, the record shows that it is not a
    second registration. Raises UsernameTaken, AlreadyRegistered, IdempotencyKeyReused, AccountDeleted.
    """
    command_id = new_id("user", idempotency_key or uuid.uuid4().hex, user_id)
    record = idempotency_record(command_id, new, userId=user_id)
    user = await _create(users, user_item(user_id, new.username, now()), record)
    if user is None:
        raise AlreadyRegistered(user_id)
    return user


async def _create(users: Container, user: Item, record: Item | None) -> Item | None:
    """Reserve the username, then create the user and the record in one transaction.

    Returns the existing user for a retry, or None if another command created them. Raises UsernameTaken,
    IdempotencyKeyReused, AccountDeleted.
    """
    user_id = user["id"]
    # A retry reserves nothing: its user may have been renamed, and the username taken by someone else since.
    existing = None if record is None else await users.read(user_id, user_id)
    if existing is None:
        reservation = await reserve(users, user["username"], user_id, name_version=0)
        try:
            return await create_recorded(users, user | trace_property(), record, user_id)
        except ItemExists:
            existing = await users.read_latest(user_id, user_id)
            await give_back(users, reservation, existing)
            if existing is None:
                raise UserNotFound(user_id) from None
    # Without a record the id is random, so only a write that the SDK resends finds the user.
    is_own = record is None or await is_recorded(users, record, user_id)
    if is_deleted(existing):
        raise AccountDeleted(next_registration(existing))
    return existing if is_own else None


async def edit_user(
    users: Container, user_id: str, changes: UserChanges, *, if_match: Collection[str] | None = None
) -> Item:
    """C1: a read by the primary and, for a new username, its reservation and a replacement of the user under its etag.

    The users change feed then updates the copies of the username and releases the old reservation. Raises
    UserNotFound, UsernameTaken, TooManyRenames, VersionMismatch.
    """

    async def rename(user: Item, edit: Item) -> Item:
        if user["username"] == changes.username:
            return user
        after, reservation = renamed(user, changes.username) | edit, None
        if reservation_id(changes.username) != reservation_id(user["username"]):
            reservation = await reserve(users, changes.username, user_id, after["nameVersion"])
        try:
            return await users.replace(after, etag=user["_etag"])
        except ConditionFailed:
            if reservation is not None:
                await give_back(users, reservation, await users.read_latest(user_id, user_id))
            raise

    return await _write(users, user_id, if_match, rename)


async def delete_user(users: Container, user_id: str, *, if_match: Collection[str] | None = None) -> None:
    """Replace a user by a tombstone: a read by the primary and a write under its etag.

    The users change feed then deletes their posts, comments and likes, and releases their usernames
    (shared/propagation/users.py). Raises UserNotFound, VersionMismatch.
    """

    async def bury(user: Item, edit: Item) -> Item:
        return await users.replace(tombstone_of(user) | edit, etag=user["_etag"])

    await _write(users, user_id, if_match, bury)


async def _write(
    users: Container, user_id: str, if_match: Collection[str] | None, write: Callable[[Item, Item], Awaitable[Item]]
) -> Item:
    """Read the user, and call `write` with it and the properties that mark this edit; again after ConditionFailed.

    The primary reads, because a lagging replica can have the name that is requested, or not the etag of `if_match`.
    """
    edit = {"editId": uuid.uuid4().hex, **trace_property()}
    for attempt in range(RENAME_ATTEMPTS):
        if attempt:
            await asyncio.sleep(random.uniform(0, RENAME_WAIT_S * attempt))  # noqa: S311 - jitter
        stored = await users.read_latest(user_id, user_id) if is_item_id(user_id) else None
        if stored is not None and stored.get("editId") == edit["editId"]:
            return stored  # the SDK resent a write whose response was lost
        user = _living(stored, user_id)
        if if_match is not None and User.last_edit(user) not in if_match:
            raise VersionMismatch
        with suppress(ConditionFailed):
            return await write(user, edit)
    raise DatabaseUnavailable(f"concurrent edits of one user refused {RENAME_ATTEMPTS} attempts")


async def get_user(users: Container, user_id: str) -> Item:
    """Q1: one point read. Raises UserNotFound."""
    return _living(await users.read(user_id, user_id) if is_item_id(user_id) else None, user_id)


def _living(user: Item | None, user_id: str) -> Item:
    """Raises UserNotFound."""
    if user is None or user.get("type", User.TYPE) != User.TYPE:
        raise UserNotFound(user_id)
    return User.checked(user) | {"type": User.TYPE}  # which an imported user can lack
