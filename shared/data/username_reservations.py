"""Usernames are unique by reservation: an item per normalised name in `users`, each in a logical partition of its own,
so that registrations spread over the container and finding the user of a name is one point read.

A reservation and its user cannot be written in one transaction, for they have different partition keys. The protocol:

1. reserve: create the reservation with a ttl (unconfirmed), before the user is written;
2. write the user (create, or replace under its etag) with a `nameVersion` one higher;
3. confirm: the users change feed takes the ttl off, once it has seen the user with this name;
4. release: the users change feed deletes the reservations of former names.

What a crash leaves, and what mends it:

- after 1: a reservation that nobody confirms. Another user may take it over once it is `ABANDONED_AFTER_S` old and its
  owner turns out not to have the name; if none asks for it, the ttl removes it.
- after 2: the user has the name; the change feed delivers at least once, so 3 and 4 follow. Until then the name cannot
  be taken over, because its owner has it.

Release and takeover must not hit a user who is just then taking a former name back. Both go by the reservation's etag
and its `nameVersion`: taking a name back replaces the reservation with a higher version, so that the release of the
lower one finds another etag, looks again, finds another version and leaves it alone.
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
# Long, because only a crash leaves an unconfirmed reservation behind, and a change feed that lags must not lose one.
UNCONFIRMED_TTL_S = 3600
# Longer than any request may take, so that a reservation in the middle of its protocol is not taken away.
ABANDONED_AFTER_S = 60
# On a reservation that was missing when it was to be confirmed.
_MADE_AGAIN = "madeAgain"


def normalised(username: str) -> str:
    """The form in which names are compared: case folded, NFKC (Unicode's toNFKC_Casefold, but for ignorables)."""
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", username).casefold())


def reservation_id(username: str) -> str:
    """Both the id and the partition key of the name's reservation."""
    return f"username:{normalised(username)}"


def reservation_item(username: str, user_id: str, name_version: int, *, confirmed: bool) -> Item:
    """The reservation of `username` for the user, as the user's name number `name_version`."""
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
    """A reservation as stored; `fresh` unless it replaced one that this user held already."""

    item: Item
    fresh: bool


async def reserve(users: Container, username: str, user_id: str, name_version: int) -> Reservation:
    """Reserve a name, unconfirmed: one write, and where the name has a reservation already, up to two point reads and
    another write. Raises UsernameTaken."""
    wanted = reservation_item(username, user_id, name_version, confirmed=False)
    for _ in range(RESERVE_ATTEMPTS):
        with suppress(ItemExists):
            return Reservation(await users.create(wanted), fresh=True)
        # What is held may be released, confirmed or taken over between the look at it and the write.
        with suppress(ConditionFailed, ItemMissing):
            return await _take_over(users, wanted)
    raise UsernameTaken(username)


async def _take_over(users: Container, wanted: Item) -> Reservation:
    """Raises UsernameTaken; ItemMissing, ConditionFailed when the reservation changed meanwhile."""
    held = await users.read(wanted["id"], wanted["id"])
    if held is None:
        raise ItemMissing
    own = held["ownerId"] == wanted["ownerId"]
    if own and held["nameVersion"] >= wanted["nameVersion"]:  # a repeated command
        return Reservation(held, fresh=False)
    if not own and not await _is_abandoned(users, held):
        raise UsernameTaken(wanted["username"])
    return Reservation(await users.replace(wanted, etag=held["_etag"]), fresh=not own)


async def _is_abandoned(users: Container, held: Item) -> bool:
    """Whether the owner does not have the name: he has been renamed since, or his command died before the user was
    written, which only time can tell from one that is under way."""
    owner = await users.read(held["ownerId"], held["ownerId"])
    if owner is not None:
        if reservation_id(owner["username"]) == held["id"]:
            return False
        if name_version(owner) > held["nameVersion"]:
            return True
    unconfirmed = "ttl" in held
    return unconfirmed and time.time() - held["_ts"] >= ABANDONED_AFTER_S


async def give_back(users: Container, reservation: Reservation) -> None:
    """Undo a reservation whose command failed before the user was written: one write, or none where the reservation
    replaced one of the user's own (it may be the one of his present name) or somebody took it since."""
    if not reservation.fresh:
        return
    item = reservation.item
    with suppress(ConditionFailed, ItemMissing):
        await users.delete(item["id"], item["id"], etag=item["_etag"])


async def confirm(users: Container, user: Item) -> None:
    """Make the reservation of the user's name last: one point read, and one write unless that is done already. Where
    there is no reservation, or another's, the present user is read, too.

    Raises UsernameTaken when someone else holds the name: no request can bring that about within its deadline, so it is
    for a person to look at.
    """
    wanted = reservation_item(user["username"], user["id"], name_version(user), confirmed=True)
    held = await users.read(wanted["id"], wanted["id"])
    if held is None:
        await _reserve_again(users, user, wanted)
    elif held["ownerId"] != user["id"]:
        if await _has_name(users, wanted):
            raise UsernameTaken(user["username"])
    elif "ttl" in held and held["nameVersion"] <= wanted["nameVersion"]:
        await _make_last(users, held, wanted)


async def _reserve_again(users: Container, user: Item, wanted: Item) -> None:
    """The reservation has expired, or the change was delivered so late that the user has another name and the
    reservation was released. Nobody would release it a second time, so it stays unconfirmed until the user has been
    read, whoever does that; after a crash it expires."""
    unconfirmed = reservation_item(wanted["username"], wanted["ownerId"], wanted["nameVersion"], confirmed=False)
    try:
        reserved = await users.create(unconfirmed | {_MADE_AGAIN: True})
    except ItemExists:
        await confirm(users, user)
    else:
        await _make_last(users, reserved, wanted)


async def _make_last(users: Container, held: Item, wanted: Item) -> None:
    with suppress(ConditionFailed, ItemMissing):  # the user is taking the name once more: that change comes, too
        if _MADE_AGAIN in held and not await _has_name(users, wanted):
            await users.delete(held["id"], held["id"], etag=held["_etag"])
        else:
            await users.replace(wanted, etag=held["_etag"])


async def _has_name(users: Container, wanted: Item) -> bool:
    owner = await users.read(wanted["ownerId"], wanted["ownerId"])
    return owner is not None and reservation_id(owner["username"]) == wanted["id"]


async def release(users: Container, username: str, user: Item) -> None:
    """Delete the reservation of a name that the user had before: one point read and one write, or the read alone where
    the name is not his any more or is his again. Raises DatabaseUnavailable when the reservation is written each time
    between the two."""
    key = reservation_id(username)
    if key == reservation_id(user["username"]):
        return
    for _ in range(RESERVE_ATTEMPTS):
        held = await users.read(key, key)
        if held is None or held["ownerId"] != user["id"] or held["nameVersion"] >= name_version(user):
            return
        with suppress(ConditionFailed):  # taken over, taken back, or confirmed by a delivery that came late: look again
            with suppress(ItemMissing):
                await users.delete(key, key, etag=held["_etag"])
            return
    raise DatabaseUnavailable(f"the reservation {key} was written each time it was to be released")
