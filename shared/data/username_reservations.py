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

from shared.errors import UsernameTaken
from shared.models.user import User, is_deleted, name_version
from shared.platform.database.container import Container, patch_of
from shared.platform.database.refusals import ConditionFailed, ItemExists, ItemMissing
from shared.platform.errors import DatabaseUnavailable, ItemDamaged
from shared.platform.models import Item, integer_of, is_item_id
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


async def reserve(users: Container, username: str, user_id: str, name_version: int) -> Item | None:
    """Reserve a username: one write, or up to three and two point reads. Raises UsernameTaken, DatabaseUnavailable.

    Returns the reservation for `give_back`, or None if the user already held it: another command can rely on it.
    """
    wanted = reservation_item(username, user_id, name_version)
    for _ in range(RESERVE_ATTEMPTS):
        with suppress(ItemExists):
            return await users.create(wanted)
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


async def _take_over(users: Container, wanted: Item) -> Item | None:
    """Raises UsernameTaken; ItemMissing, ConditionFailed if the reservation changed concurrently."""
    held = await read_reservation(users, wanted["id"])
    if held is None:
        raise ItemMissing
    owner = await users.read_latest(held["ownerId"], held["ownerId"])
    if held["ownerId"] == wanted["ownerId"]:
        if owner is None or name_version(owner) < wanted["nameVersion"]:  # otherwise a retry: the user was written
            await users.replace(wanted, etag=held["_etag"])
        return None
    abandoned = await claim_abandoned(users, held, owner)
    if abandoned is None:
        raise UsernameTaken(wanted["username"])
    return await users.replace(wanted, etag=abandoned["_etag"])


def is_abandoned(reservation: Item, owner: Item | None, now_s: float | None = None) -> bool | None:
    """Return whether the owner, as read after the reservation, neither has the username nor is about to get it.

    None if only the age shows it, because a command that has not written its user yet is running or has crashed.
    `now_s` must be a time of the database, like `_ts`. Raises ItemDamaged.
    """
    if owner is not None:
        if is_deleted(owner):
            return True
        if reservation_id(User.checked(owner)["username"]) == reservation["id"]:
            return False
        if name_version(owner) > reservation["nameVersion"]:
            return True
    if now_s is None:
        return None
    return now_s - integer_of(reservation, "reservedTs", reservation["_ts"]) >= ABANDONED_AFTER_S


async def claim_abandoned(users: Container, reservation: Item, owner: Item | None) -> Item | None:
    """Return the reservation as it is now if it is abandoned, otherwise None: at most one write.

    Raises ItemDamaged; ItemMissing, ConditionFailed if the reservation has changed.
    """
    abandoned = is_abandoned(reservation, owner)
    if abandoned is None:
        # A host's clock can be wrong. A write shows the time of the database, as `_ts`, so it keeps the first one.
        since = patch_of({"reservedTs": integer_of(reservation, "reservedTs", reservation["_ts"])})
        reservation = await users.patch(reservation["id"], reservation["id"], since, etag=reservation["_etag"])
        abandoned = is_abandoned(reservation, owner, now_s=reservation["_ts"])
    return reservation if abandoned else None


async def give_back(users: Container, reservation: Item | None, owner: Item | None) -> None:
    """Delete a reservation that is not needed after all, unless it has changed since, or its owner has the username.

    `owner` is the user as stored, also if they are deleted.
    """
    if reservation is not None and (owner is None or reservation_id(owner["username"]) != reservation["id"]):
        with suppress(ConditionFailed, ItemMissing):
            await users.delete(reservation["id"], reservation["id"], etag=reservation["_etag"])


async def names_held(users: Container, owner_id: str) -> list[str]:
    """Return the usernames that are reserved for a user, also by a rename that failed: a query of the container."""
    await users.catch_up()
    found = users.query_across(_OF_OWNER, {"type": TYPE, "ownerId": owner_id}, page_size=100)
    return [held["username"] async for held in found if isinstance(held.get("username"), str) and not fault_of(held)]


async def release(users: Container, username: str, user: Item) -> None:
    """Delete the reservation of a former username: one point read and one write.

    Keeps it if it is someone else's or the user's again. Raises ItemDamaged, and DatabaseUnavailable if every attempt
    fails.
    """
    key = reservation_id(username)
    for _ in range(RESERVE_ATTEMPTS):
        held = await read_reservation(users, key)
        if held is None or held["ownerId"] != user["id"] or not is_abandoned(held, user):
            return
        with suppress(ConditionFailed):  # taken over or taken back: read again
            with suppress(ItemMissing):
                await users.delete(key, key, etag=held["_etag"])
            return
    raise DatabaseUnavailable(f"other writes refused the release of {key} {RESERVE_ATTEMPTS} times")
