"""Users: create, rename, read. A user is one item in a logical partition of `users`, which holds the short forms of
the user's posts, too."""

from __future__ import annotations

import asyncio
import random

from shared.cosmos import ConditionFailed, Container, ItemExists
from shared.data import usernames
from shared.data.authors import recall, remember
from shared.data.identity import new_edit_id, new_id, now
from shared.errors import AlreadyRegistered, DatabaseUnavailable, UsernameTaken, UserNotFound, VersionMismatch
from shared.models.base import Item
from shared.models.fields import is_item_id
from shared.models.user import NewUser, User, UserChanges, renamed, user_item
from shared.retries import RENAME_ATTEMPTS, RENAME_WAIT_S


async def create_user(users: Container, new: NewUser, *, idempotency_key: str | None) -> Item:
    """C1. Two writes: the reservation of the name, then the user. Raises UsernameTaken.

    A crash between the two leaves an unconfirmed reservation, see shared/data/usernames.py. There is no user yet whose
    key the idempotency key could be, so it counts together with the name.
    """
    user_id = new_id("user", key=idempotency_key, owner=usernames.normalised(new.username))
    reservation = await usernames.reserve(users, new.username, user_id, name_version=0)
    try:
        user = await users.create(user_item(user_id, new.username, now()))
    except ItemExists:
        existing = await get_user(users, user_id)
        if usernames.reservation_id(existing["username"]) != reservation.item["id"]:
            await usernames.give_back(users, reservation)
        return existing
    remember(users, user)
    return user


async def register_user(users: Container, new: NewUser, *, user_id: str, idempotency_key: str | None) -> Item:
    """C1 for a caller who signs in, whose user can have one id alone (shared/auth/callers.py). Two writes as above; a
    point read more where the caller has a user already. Raises UsernameTaken, AlreadyRegistered.

    The write of the user is what binds the caller to him: of two requests with two names one finds that user there
    already, and gives its name back. The user keeps the id of the command that made him: by it a repetition, be it the
    client's or the SDK's after a lost answer, is told from a second registration.
    """
    command = new_id("user", key=idempotency_key, owner=user_id)
    item = user_item(user_id, new.username, now()) | {"commandId": command}
    try:
        reservation = await usernames.reserve(users, new.username, user_id, name_version=0)
    except UsernameTaken:
        # By others since, it may be: the user of a repeated registration may have another name by now.
        registered = await users.read(user_id, user_id)
        if registered is None:
            raise
        return _registered_by(command, registered)
    try:
        return await users.create(item)
    except ItemExists:
        registered = await get_user(users, user_id)
        if usernames.reservation_id(registered["username"]) != reservation.item["id"]:
            await usernames.give_back(users, reservation)
        return _registered_by(command, registered)


def _registered_by(command: str, user: Item) -> Item:
    if user.get("commandId") != command:
        raise AlreadyRegistered(user["id"])
    return user


async def edit_user(users: Container, user_id: str, changes: UserChanges, *, etag: str | None) -> Item:
    """C1. A point read of the user, the reservation of the new name, a replacement of the user under its etag: three
    operations; one where the name is the same. Raises UserNotFound, UsernameTaken, VersionMismatch.

    The copies of the name and the reservation of the former one follow by the users change feed.
    """
    edit_id = new_edit_id()
    for attempt in range(RENAME_ATTEMPTS):
        user = await get_user(users, user_id)
        if user.get("editId") == edit_id:
            return user  # written by the SDK's first sending, whose answer was lost
        if etag is not None and User.entity_tag(user) != etag:
            raise VersionMismatch
        if user["username"] == changes.username:
            return user
        changed = await _rename(users, user, changes.username, edit_id)
        if changed is not None:
            remember(users, changed)
            return changed
        await asyncio.sleep(random.uniform(0, RENAME_WAIT_S * attempt))  # noqa: S311 - jitter
    raise DatabaseUnavailable(f"{RENAME_ATTEMPTS} renames of one user met others")


async def _rename(users: Container, user: Item, username: str, edit_id: str) -> Item | None:
    """The renamed user, or None when another write of the user came in between."""
    after = renamed(user, username) | {"editId": edit_id}
    if usernames.reservation_id(username) == usernames.reservation_id(user["username"]):
        reservation = None  # only the case differs: the name is reserved already
    else:
        reservation = await usernames.reserve(users, username, user["id"], after["nameVersion"])
    try:
        return await users.replace(after, etag=user["_etag"])
    except ConditionFailed:
        if reservation is not None:
            await _give_back_unless_in_use(users, reservation)
        return None


async def _give_back_unless_in_use(users: Container, reservation: usernames.Reservation) -> None:
    user = await get_user(users, reservation.item["ownerId"])
    if usernames.reservation_id(user["username"]) != reservation.item["id"]:
        await usernames.give_back(users, reservation)


async def get_author(users: Container, user_id: str) -> Item:
    """The user who writes, as he was at most some seconds ago: a point read, or none where he wrote lately. Raises
    UserNotFound."""
    return recall(users, user_id) or await get_user(users, user_id)


async def get_user(users: Container, user_id: str) -> Item:
    """Q1. One point read. Raises UserNotFound."""
    user = await users.read(user_id, user_id) if is_item_id(user_id) else None
    if user is None or user.get("type", User.TYPE) != User.TYPE:
        raise UserNotFound(user_id)
    remember(users, user)
    return user
