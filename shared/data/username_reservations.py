"""Username reservations, which keep usernames unique: one item per normalized username in `users`.

A reservation and its user are in different logical partitions, so they cannot share a transaction. The protocol:

1. reserve: create the reservation.
2. Write the user: create it, or replace it under its etag with `nameVersion` one higher.
3. release: the users change feed deletes the reservations of former usernames.

A reservation never expires. If another user wants the username, the owner's item shows whether it is abandoned: at
once after a rename or the owner's deletion, and `ABANDONED_AFTER_S` after a crash between 1 and 2, by the clock of the
database. Before an owner uses a username, they write its reservation. The new etag makes a concurrent release or
takeover fail.
"""

from __future__ import annotations

import unicodedata
from contextlib import suppress
from dataclasses import dataclass

from shared.errors import UsernameTaken
from shared.models.user import User, is_deleted, name_version
from shared.platform.database.container import Container, patch_of
from shared.platform.database.refusals import ConditionFailed, ItemExists, ItemMissing
from shared.platform.errors import DatabaseUnavailable, ItemDamaged
from shared.platform.models import Item, is_item_id
from shared.platform.telemetry import private_prefixes

TYPE = "username"
private_prefixes.add(f"{TYPE}:")
_OF_OWNER = "SELECT * FROM c WHERE c.type = @type AND c.ownerId = @ownerId"
# Longer than any request, so a reservation is not taken over before its user is written.
ABANDONED_AFTER_S = 60
RESERVE_ATTEMPTS = 3


def normalized(username: str) -> str:
    """Return the form in which usernames are compared: Unicode's toNFKC_Casefold for every name that is accepted.

    Older names can contain invisible characters, which are refused now. This form keeps them, because the IDs of their
    reservations contain them.
    """
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", username).casefold())


def reservation_id(username: str) -> str:
    """Return the id of the username's reservation, which is also its partition key."""
    return f"username:{normalized(username)}"


def reservation_item(username: str, user_id: str, name_version: int) -> Item:
    """Return the reservation of `username` for a user whose `nameVersion` is, or will be, `name_version`."""
    key = reservation_id(username)
    owner = {"ownerId": user_id, "nameVersion": name_version}
    return {"id": key, "userId": key, "type": TYPE, "username": username, **owner}


@dataclass(frozen=True)
class Reservation:
    """A reservation as stored; `fresh` unless this user already held it."""

    item: Item
    fresh: bool


async def reserve(users: Container, username: str, user_id: str, name_version: int) -> Reservation:
    """Reserve a username: one write, or two and two point reads. Raises UsernameTaken, DatabaseUnavailable."""
    wanted = reservation_item(username, user_id, name_version)
    for _ in range(RESERVE_ATTEMPTS):
        with suppress(ItemExists):
            return Reservation(await users.create(wanted), fresh=True)
        # The existing reservation may change between the read and the write.
        with suppress(ConditionFailed, ItemMissing):
            return await _take_over(users, wanted)
    # It can be the user's own: if every response was lost, the SDK has sent each write twice.
    raise DatabaseUnavailable(f"other writes refused a reservation {RESERVE_ATTEMPTS} times")


async def read_reservation(users: Container, key: str) -> Item | None:
    """Return the reservation, as the primary has it. Raises ItemDamaged."""
    held = await users.read_latest(key, key)
    if held is not None and (fault := fault_of(held)):
        raise ItemDamaged(f"reservation {key}: {fault}")
    return held


def fault_of(reservation: Item) -> str:
    """Name a field that is not what the app writes; empty if there is none."""
    owner_id = reservation.get("ownerId")
    if not isinstance(owner_id, str) or not is_item_id(owner_id):
        return "ownerId must be an ID"
    numbers = {"nameVersion": reservation.get("nameVersion"), "reservedTs": reservation.get("reservedTs", 0)}
    return next((f"{name} must be a whole number" for name, value in numbers.items() if type(value) is not int), "")


async def _take_over(users: Container, wanted: Item) -> Reservation:
    """Raises UsernameTaken; ItemMissing, ConditionFailed if the reservation changed concurrently."""
    held = await read_reservation(users, wanted["id"])
    if held is None:
        raise ItemMissing
    owner = await users.read_latest(held["ownerId"], held["ownerId"])
    is_owners = held["ownerId"] == wanted["ownerId"]
    if is_owners and owner is not None and name_version(owner) >= wanted["nameVersion"]:
        return Reservation(held, fresh=False)  # a retry: the user was written
    if not is_owners:
        held = await claim_abandoned(users, held, owner)
    if held is None:
        raise UsernameTaken(wanted["username"])
    return Reservation(await users.replace(wanted, etag=held["_etag"]), fresh=not is_owners)


def is_abandoned(reservation: Item, owner: Item | None, now_s: float) -> bool:
    """Return whether the owner, as read after the reservation, neither has the username nor is about to get it.

    `now_s` must be a time of the database, like `_ts`. Raises ItemDamaged.
    """
    given_up = _is_given_up(reservation, owner)
    return now_s - _reserved_s(reservation) >= ABANDONED_AFTER_S if given_up is None else given_up


async def claim_abandoned(users: Container, reservation: Item, owner: Item | None) -> Item | None:
    """Return the reservation as it is now if it is abandoned, otherwise None: at most one write.

    A host's clock can be wrong, and only a write shows the time of the database, as the `_ts` that it sets. It keeps
    the first `_ts` as `reservedTs`. Raises ItemDamaged; ItemMissing, ConditionFailed if the reservation has changed.
    """
    given_up = _is_given_up(reservation, owner)
    if given_up is not None:
        return reservation if given_up else None
    since = patch_of({"reservedTs": _reserved_s(reservation)})
    touched = await users.patch(reservation["id"], reservation["id"], since, etag=reservation["_etag"])
    return touched if is_abandoned(touched, owner, now_s=touched["_ts"]) else None


def _is_given_up(reservation: Item, owner: Item | None) -> bool | None:
    """Return whether the owner was renamed or deleted since. None if only the age of the reservation shows it.

    A command that has not written its user yet is running or has crashed. Raises ItemDamaged.
    """
    if owner is not None:
        if is_deleted(owner):
            return True
        if reservation_id(User.checked(owner)["username"]) == reservation["id"]:
            return False
        if name_version(owner) > reservation["nameVersion"]:
            return True
    return None


def _reserved_s(reservation: Item) -> int:
    """Return when the owner wrote the reservation, as a time of the database in seconds."""
    since: int = reservation["reservedTs"] if "reservedTs" in reservation else reservation["_ts"]
    return since


async def give_back(users: Container, reservation: Reservation, owner: Item | None) -> None:
    """Undo a fresh reservation, unless its owner has the username or it has changed since: one write.

    `owner` is the user as stored, also if they are deleted.
    """
    item = reservation.item
    if reservation.fresh and (owner is None or reservation_id(owner["username"]) != item["id"]):
        with suppress(ConditionFailed, ItemMissing):
            await users.delete(item["id"], item["id"], etag=item["_etag"])


async def names_held(users: Container, owner_id: str) -> list[str]:
    """Return the usernames that are reserved for a user, also by a rename that failed: a query of the container."""
    await users.catch_up()
    found = users.query_across(_OF_OWNER, {"type": TYPE, "ownerId": owner_id}, page_size=100)
    return [held["username"] async for held in found if isinstance(held.get("username"), str) and not fault_of(held)]


async def release(users: Container, username: str, user: Item) -> None:
    """Delete the reservation of a former username: one point read and one write.

    Keeps it if it is someone else's or the user's again. Raises DatabaseUnavailable if every attempt fails.
    """
    key = reservation_id(username)
    if key == reservation_id(user["username"]):
        return
    for _ in range(RESERVE_ATTEMPTS):
        held = await read_reservation(users, key)
        if held is None or held["ownerId"] != user["id"]:
            return
        if not is_deleted(user) and held["nameVersion"] >= name_version(user):
            return
        with suppress(ConditionFailed):  # taken over or taken back: read again
            with suppress(ItemMissing):
                await users.delete(key, key, etag=held["_etag"])
            return
    raise DatabaseUnavailable(f"other writes refused the release of {key} {RESERVE_ATTEMPTS} times")
