"""Users: create, rename, delete, read. A user shares a logical partition of `users` with the copies of their posts.

A cache of recent authors saves a point read per command. Its usernames may be `AUTHOR_CACHE_S` seconds stale: the posts
change feed corrects them on each item (shared/propagation/posts.py). It must do this even without a cache, because a
user can be renamed or deleted between the read of a username and the write of an item. Renames and deletions in this
process update the cache.
"""

from __future__ import annotations

import asyncio
import random
import uuid
from collections.abc import Collection
from contextlib import suppress

from cachetools import TTLCache

from shared.data.idempotency import create_recorded, idempotency_record, is_recorded, new_id
from shared.data.permissions import Deletion, audit_item, require_can_delete
from shared.data.username_reservations import give_back, reservation_id, reserve
from shared.database.container import Container, Operation
from shared.database.refusals import ConditionFailed, ItemExists
from shared.database.retries import RENAME_ATTEMPTS, RENAME_WAIT_S
from shared.errors import (
    AccountDeleted,
    AlreadyRegistered,
    DatabaseUnavailable,
    IdempotencyKeyReused,
    UserNotFound,
    VersionMismatch,
)
from shared.models.base import Item, is_item_id, now
from shared.models.user import (
    NewUser,
    User,
    UserChanges,
    is_deleted,
    name_version,
    renamed,
    tombstone_of,
    user_after,
    user_item,
)
from shared.observability.spans import trace_property

AUTHOR_CACHE_S = 10.0
# From the end of a deletion, when another process can still know the deleted user: what it writes would be erased, even
# if the new user wrote it. `_ts` has whole seconds, and a lagging replica can refill the cache.
RECREATE_AFTER_S = AUTHOR_CACHE_S + 5
_DELETED_SINCE = "The account that this Idempotency-Key created was deleted. To create another one, send a new key."

_authors: TTLCache[tuple[Container, str], Item] = TTLCache(maxsize=10_000, ttl=AUTHOR_CACHE_S)


async def create_user(users: Container, new: NewUser, *, idempotency_key: str | None) -> Item:
    """C1: two writes, the reservation of the username and the user; with a key, also a point read.

    Raises UsernameTaken, IdempotencyKeyReused.

    A crash between the two leaves the reservation (shared/data/username_reservations.py). All callers share one scope
    of idempotency keys, because there is no user yet.
    """
    user_id = new_id("user", idempotency_key)
    record = idempotency_record(user_id, new, {"id": user_id}, userId=user_id) if idempotency_key else None
    user = await _create(users, user_item(user_id, new.username, now()), record)
    if user is None:
        raise IdempotencyKeyReused  # more than 24 hours ago
    remember(users, user)
    return user


async def register_user(users: Container, new: NewUser, *, user_id: str, idempotency_key: str | None) -> Item:
    """C1 for a caller who signs in, whose user has a fixed id (shared/http/callers.py): a point read and two writes.

    Concurrent registrations create one user, and the others release their usernames. A registration without a key
    gets a random one. If the SDK resends the write because its response was lost, the record shows that it is not a
    second registration. Raises UsernameTaken, AlreadyRegistered, IdempotencyKeyReused, AccountDeleted.
    """
    command_id = new_id("user", idempotency_key or uuid.uuid4().hex, user_id)
    record = idempotency_record(command_id, new, {"id": user_id}, userId=user_id)
    user = await _create(users, user_item(user_id, new.username, now()), record)
    if user is None:
        raise AlreadyRegistered(user_id)
    remember(users, user)  # instead of the tombstone of a deleted account
    return user


async def _create(users: Container, user: Item, record: Item | None) -> Item | None:
    """Reserve the username, then create the user and the record in one transaction.

    Returns the existing user for a retry, or None if another command created them. Raises UsernameTaken,
    IdempotencyKeyReused, AccountDeleted.
    """
    user_id, replaced = user["id"], None
    # A retry reserves nothing: its user may have been renamed, and the username taken by someone else since.
    existing = None if record is None else await users.read(user_id, user_id)
    if record and existing and is_deleted(existing) and not existing.get("isBanned"):
        if await is_recorded(users, record, user_id):
            raise AccountDeleted(_DELETED_SINCE)
        if "formerUsernames" not in existing:
            user, replaced = user_after(existing, user), existing["_etag"]
    if existing is None or replaced:
        reservation = await reserve(users, user["username"], user_id, name_version(user))
        # Both times are the database's.
        if existing and reservation.item["_ts"] - existing["_ts"] < RECREATE_AFTER_S:
            await give_back(users, reservation, existing)
            raise AccountDeleted
        try:
            return await create_recorded(users, user | trace_property(), record, user_id, replaced=replaced)
        except (ItemExists, ConditionFailed):
            existing = await users.read_latest(user_id, user_id)
            await give_back(users, reservation, existing)
            if existing is None:
                raise UserNotFound(user_id) from None
    if existing.get("isBanned"):
        raise AccountDeleted("This account was banned.")
    if is_deleted(existing):
        raise AccountDeleted
    # Without a record the id is random, so only a write that the SDK resends finds the user.
    return existing if record is None or await is_recorded(users, record, user_id) else None


async def edit_user(
    users: Container, user_id: str, changes: UserChanges, *, if_match: Collection[str] | None = None
) -> Item:
    """C1: a point read and, for a new username, its reservation and a replacement of the user under its etag.

    The users change feed then updates the copies of the username and releases the old reservation. Raises
    UserNotFound, UsernameTaken, TooManyRenames, VersionMismatch.
    """
    edit_id = uuid.uuid4().hex
    for attempt in range(RENAME_ATTEMPTS):
        if attempt:
            await asyncio.sleep(random.uniform(0, RENAME_WAIT_S * attempt))  # noqa: S311 - jitter
        user = await get_user(users, user_id)
        if user.get("editId") == edit_id:
            return user  # the SDK resent a write whose response was lost
        if if_match is not None and User.last_edit(user) not in if_match:
            raise VersionMismatch
        if user["username"] == changes.username:
            return user
        after = renamed(user, changes.username) | {"editId": edit_id, **trace_property()}
        reservation = None
        if reservation_id(changes.username) != reservation_id(user["username"]):
            reservation = await reserve(users, changes.username, user_id, after["nameVersion"])
        try:
            changed = await users.replace(after, etag=user["_etag"])
        except ConditionFailed:
            if reservation is not None:
                await give_back(users, reservation, await users.read_latest(user_id, user_id))
        else:
            remember(users, changed)
            return changed
    raise DatabaseUnavailable(f"concurrent renames of one user refused {RENAME_ATTEMPTS} attempts")


async def delete_user(
    users: Container, user_id: str, *, deletion: Deletion, if_match: Collection[str] | None = None
) -> None:
    """Replace a user by a tombstone: a point read and a write under its etag.

    The users change feed then deletes their posts, comments and likes, and releases their usernames
    (shared/propagation/users.py). Raises UserNotFound, VersionMismatch, Forbidden, MalformedRequest.
    """
    edit_id = uuid.uuid4().hex
    for attempt in range(RENAME_ATTEMPTS):
        if attempt:
            await asyncio.sleep(random.uniform(0, RENAME_WAIT_S * attempt))  # noqa: S311 - jitter
            stored = await users.read_latest(user_id, user_id)
            if stored is not None and stored.get("editId") == edit_id:
                return  # the SDK resent a write whose response was lost
        user = await get_user(users, user_id)
        if if_match is not None and User.last_edit(user) not in if_match:
            raise VersionMismatch
        needs_audit = require_can_delete(deletion, [user_id], "You can delete only your own account.")
        tombstone = tombstone_of(user, is_banned=deletion.bans and needs_audit)
        tombstone |= {"editId": edit_id, **trace_property()}
        with suppress(ConditionFailed):
            if needs_audit:
                operation: Operation = ("replace", (user_id, tombstone), {"if_match_etag": user["_etag"]})
                audit = audit_item(deletion, user, userId=user_id)
                remember(users, await users.write_with(user_id, operation, audit))
            else:
                remember(users, await users.replace(tombstone, etag=user["_etag"]))
            return
    raise DatabaseUnavailable(f"concurrent renames of one user refused {RENAME_ATTEMPTS} attempts")


async def get_author(users: Container, user_id: str) -> Item:
    """Return the user, up to some seconds stale: a point read unless cached. Raises UserNotFound."""
    author = _authors.get((users, user_id))
    if author is not None and is_deleted(author):
        author = None  # the user can have registered again in another process
        with suppress(KeyError):  # expired just now
            del _authors[users, user_id]
    return author or await get_user(users, user_id)


async def get_user(users: Container, user_id: str) -> Item:
    """Q1: one point read. Raises UserNotFound."""
    user = await users.read(user_id, user_id) if is_item_id(user_id) else None
    if user is not None and is_deleted(user):
        remember(users, user)
    if user is None or user.get("type", User.TYPE) != User.TYPE:
        raise UserNotFound(user_id)
    user = User.checked(user) | {"type": User.TYPE}  # which an imported user can lack
    remember(users, user)
    return user


def remember(users: Container, user: Item) -> None:
    """Cache the user, unless a later username of theirs is cached."""
    known = _authors.get((users, user["id"]))
    if known is None or name_version(known) <= name_version(user):
        _authors[users, user["id"]] = user
