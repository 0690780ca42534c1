"""Username reservations, which keep usernames unique: one item per normalized username in `users`.

Each reservation has its own logical partition, so registrations spread over the container, and finding a username's
owner is one point read. A reservation and its user cannot share a transaction. The protocol:

1. reserve: create the reservation with a ttl (unconfirmed).
2. Write the user: create it, or replace it under its etag with `nameVersion` one higher.
3. confirm: the users change feed has seen the user with this username, and removes the ttl.
4. release: the users change feed deletes the reservations of former usernames.

A crash after 1 leaves an unconfirmed reservation. Another user can take it over after `ABANDONED_AFTER_S` if the owner
does not have the username; otherwise it expires. A crash after 2 loses nothing: the change feed delivers at least once,
and meanwhile the owner has the username.

A user may take a former username back during its release or takeover. Taking it back replaces the reservation with a
higher `nameVersion`, so a release finds another etag, reads again, and leaves the higher version alone.
"""

from __future__ import annotations

import time
import unicodedata
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from shared.cosmos import ConditionFailed, Container, ItemExists, ItemMissing
from shared.errors import DatabaseUnavailable, UsernameTaken
from shared.models.base import Item
from shared.models.user import name_version
from shared.retries import RESERVE_ATTEMPTS

TYPE = "username"
# Longer than the change feed may lag, or reservations of existing users would expire.
UNCONFIRMED_TTL_S = 3600
# Longer than any request, so a reservation is not taken over before its user is written.
ABANDONED_AFTER_S = 60
# Set on a reservation that `confirm` had to recreate.
_RECREATED = "recreated"


def normalized(username: str) -> str:
    """Return the form in which usernames are compared: NFKC and case folded.

    This is Unicode's toNFKC_Casefold, except that ignorable characters stay.
    """
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", username).casefold())


def reservation_id(username: str) -> str:
    """Return the id of the username's reservation, which is also its partition key."""
    return f"username:{normalized(username)}"


def reservation_item(username: str, user_id: str, name_version: int, *, confirmed: bool) -> Item:
    """Return the reservation of `username` for a user whose `nameVersion` is, or will be, `name_version`."""
    key = reservation_id(username)
    item: dict[str, Any] = {
        "id": key,
        "userId": key,
        "type": TYPE,
        "username": username,
        "ownerId": user_id,
        "nameVersion": name_version,
    }
    return item if confirmed else item | {"ttl": UNCONFIRMED_TTL_S}


@dataclass(frozen=True)
class Reservation:
    """A reservation as stored; `fresh` unless this user already held it."""

    item: Item
    fresh: bool


async def reserve(users: Container, username: str, user_id: str, name_version: int) -> Reservation:
    """Reserve a username, unconfirmed: one write.

    If a reservation exists, up to two point reads and another write. Raises UsernameTaken.
    """
    wanted = reservation_item(username, user_id, name_version, confirmed=False)
    for _ in range(RESERVE_ATTEMPTS):
        with suppress(ItemExists):
            return Reservation(await users.create(wanted), fresh=True)
        # The existing reservation may change between the read and the write.
        with suppress(ConditionFailed, ItemMissing):
            return await _take_over(users, wanted)
    raise UsernameTaken(username)


async def _take_over(users: Container, wanted: Item) -> Reservation:
    """Raises UsernameTaken; ItemMissing, ConditionFailed if the reservation changed concurrently."""
    held = await users.read(wanted["id"], wanted["id"])
    if held is None:
        raise ItemMissing
    own = held["ownerId"] == wanted["ownerId"]
    if own and held["nameVersion"] >= wanted["nameVersion"]:  # a retry
        return Reservation(held, fresh=False)
    if not own and not await _is_abandoned(users, held):
        raise UsernameTaken(wanted["username"])
    return Reservation(await users.replace(wanted, etag=held["_etag"]), fresh=not own)


async def _is_abandoned(users: Container, held: Item) -> bool:
    """Return whether the owner was renamed since, or crashed before writing the user.

    Only time tells a crash from a command that is still running.
    """
    owner = await users.read(held["ownerId"], held["ownerId"])
    if owner is not None:
        if reservation_id(owner["username"]) == held["id"]:
            return False
        if name_version(owner) > held["nameVersion"]:
            return True
    unconfirmed = "ttl" in held
    return unconfirmed and time.time() - held["_ts"] >= ABANDONED_AFTER_S


async def give_back(users: Container, reservation: Reservation) -> None:
    """Undo a reservation whose user was not written: one write.

    Does nothing unless it is fresh, because the user may have the username, or if it has changed since.
    """
    if not reservation.fresh:
        return
    item = reservation.item
    with suppress(ConditionFailed, ItemMissing):
        await users.delete(item["id"], item["id"], etag=item["_etag"])


async def confirm(users: Container, user: Item) -> None:
    """Make the reservation of the user's username permanent: one point read, and one write unless it already is.

    Also reads the current user if the reservation is missing or someone else's. Raises UsernameTaken if someone else
    holds the user's username, which no request can cause: an operator has to resolve it.
    """
    wanted = reservation_item(user["username"], user["id"], name_version(user), confirmed=True)
    held = await users.read(wanted["id"], wanted["id"])
    if held is None:
        await _recreate(users, user, wanted)
    elif held["ownerId"] != user["id"]:
        if await _has_name(users, wanted):
            raise UsernameTaken(user["username"])
    elif "ttl" in held and held["nameVersion"] <= wanted["nameVersion"]:
        await _make_permanent(users, held, wanted)


async def _recreate(users: Container, user: Item, wanted: Item) -> None:
    """Recreate a reservation that expired, unless the user was renamed since and it was released.

    It stays unconfirmed until the user has been read: no second release would follow, but after a crash it expires.
    """
    unconfirmed = reservation_item(wanted["username"], wanted["ownerId"], wanted["nameVersion"], confirmed=False)
    try:
        reserved = await users.create(unconfirmed | {_RECREATED: True})
    except ItemExists:
        await confirm(users, user)
    else:
        await _make_permanent(users, reserved, wanted)


async def _make_permanent(users: Container, held: Item, wanted: Item) -> None:
    with suppress(ConditionFailed, ItemMissing):  # the user takes it back: that change is delivered, too
        if _RECREATED in held and not await _has_name(users, wanted):
            await users.delete(held["id"], held["id"], etag=held["_etag"])
        else:
            await users.replace(wanted, etag=held["_etag"])


async def _has_name(users: Container, wanted: Item) -> bool:
    owner = await users.read(wanted["ownerId"], wanted["ownerId"])
    return owner is not None and reservation_id(owner["username"]) == wanted["id"]


async def release(users: Container, username: str, user: Item) -> None:
    """Delete the reservation of a former username: one point read and one write.

    Keeps it if it is someone else's or the user's again. Raises DatabaseUnavailable if every attempt fails.
    """
    key = reservation_id(username)
    if key == reservation_id(user["username"]):
        return
    for _ in range(RESERVE_ATTEMPTS):
        held = await users.read(key, key)
        if held is None or held["ownerId"] != user["id"] or held["nameVersion"] >= name_version(user):
            return
        with suppress(ConditionFailed):  # taken over, taken back, or confirmed late: read again
            with suppress(ItemMissing):
                await users.delete(key, key, etag=held["_etag"])
            return
    raise DatabaseUnavailable(f"other writes refused the release of {key} {RESERVE_ATTEMPTS} times")
