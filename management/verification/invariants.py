"""The invariants of stored items: the rule for each property, what `verify` reports, and who repairs it.

docs/data-checks.md has this table, and the tests generate damage from it. `holds` checks an item by itself. The other
rules compare items, and the census and the examination check them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from management.verification.findings import Kind
from shared.data import username_reservations
from shared.models.base import DELETED_TTL_S
from shared.models.characters import is_blank
from shared.models.post import EMPTIED
from shared.models.user import User, username_to_copy
from shared.platform.errors import ItemDamaged
from shared.platform.models import Item, is_item_id, is_whole_number, parse_moment

# Cosmos DB stores numbers as IEEE 754 doubles: https://www.rfc-editor.org/rfc/rfc8259#section-6
_LARGEST_NUMBER = 2**53 - 1
_LONGEST_ID = 1023  # bytes


class Repair(StrEnum):
    REBUILD = "`rebuild`"
    OPERATOR = "operator"


@dataclass(frozen=True)
class Invariant:
    """A rule for a property of one kind of item; `holds` is None if it depends on other items."""

    item: str
    property: str
    rule: str
    holds: Callable[[Item], bool] | None
    kind: Kind = Kind.MALFORMED
    repair: Repair = Repair.OPERATOR


def violated(kind: str, item: Item) -> list[Invariant]:
    """Return the invariants of this kind that the item violates by itself."""
    return [each for each in INVARIANTS if each.item == kind and each.holds is not None and not each.holds(item)]


def expires(item: Item) -> bool:
    """Return whether the item disappears within 30 days. With the ttl -1, it never does."""
    return _expires_within(item, DELETED_TTL_S)


def _expires_within(item: Item, seconds: int) -> bool:
    ttl = item.get("ttl")
    return is_whole_number(ttl) and 0 < ttl <= seconds


def is_version(post: Item) -> bool:
    """Return whether the post's version can be compared and incremented."""
    version = post.get("version")
    return is_whole_number(version) and 1 <= version < _LARGEST_NUMBER


def is_user(item: Item) -> bool:
    """Return whether the item is a user as the app writes it, whose username can be copied."""
    try:
        username_to_copy(User.checked(item))
    except (ItemDamaged, ValueError):
        return False
    return True


def is_username(value: Any) -> bool:
    """Return whether the name can be reserved. Stored names from before a rule stay valid."""
    if not isinstance(value, str) or not value.strip():
        return False
    key = username_reservations.reservation_id(value)
    return is_item_id(key) and len(key.encode()) <= _LONGEST_ID


def _has_id(item: Item) -> bool:
    return is_item_id(item["id"])


def _is_id(name: str) -> Callable[[Item], bool]:
    return lambda item: isinstance(item.get(name), str) and is_item_id(item[name])


def _is_own_id(name: str) -> Callable[[Item], bool]:
    return lambda item: item.get(name) == item["id"]


def _is_text(name: str) -> Callable[[Item], bool]:
    return lambda item: isinstance(item.get(name), str) and not is_blank(item[name])


def _is_string(name: str) -> Callable[[Item], bool]:
    return lambda item: isinstance(item.get(name), str)


def _is_ttl_of_deleted_user(tombstone: Item) -> bool:
    if tombstone.get("ttl") == -1:
        return True
    return "ttl" not in tombstone if "formerUsernames" in tombstone else expires(tombstone)


def _is_empty(name: str) -> Callable[[Item], bool]:
    return lambda item: item.get(name, "") == ""


def _is_date(name: str, *, optional: bool = False) -> Callable[[Item], bool]:
    def holds(item: Item) -> bool:
        if name not in item:
            return optional
        try:
            parse_moment(item[name])
        except (TypeError, ValueError):
            return False
        return True

    return holds


def _is_version(item: Item) -> bool:
    value = item.get("nameVersion", 0)
    return is_whole_number(value) and 0 <= value <= _LARGEST_NUMBER


_DATE, _ID = "ISO 8601, in the years 1 to 9999 in UTC", "1 to 255 characters that a URL can carry"
_NAME_VERSION = "absent, or a whole number from 0"
_COPY_KINDS = "equal to the post's short form"


def _no_ttl(item: str) -> Invariant:
    return Invariant(item, "ttl", "absent", lambda stored: "ttl" not in stored, Kind.EXPIRING, Repair.REBUILD)


def _turns(item: str) -> Invariant:
    return Invariant(item, "turns", "absent, or a whole number", lambda stored: is_whole_number(stored.get("turns", 0)))


def _response(item: str) -> list[Invariant]:
    """What comments and likes have in common."""
    return [
        Invariant(
            item, "postId", "an ID, and not its own", lambda stored: _is_id("postId")(stored) and not _of_itself(stored)
        ),
        Invariant(item, "userId", "an ID", _is_id("userId")),
        Invariant(item, "userId", "of a user", None, Kind.NAME),
        Invariant(item, "userUsername", "the user's username", None, Kind.NAME, Repair.REBUILD),
        Invariant(item, "nameVersion", _NAME_VERSION, _is_version),
        Invariant(item, "nameVersion", "at most the user's", None, Kind.NAME, Repair.REBUILD),
        Invariant(item, "creationDate", _DATE, _is_date("creationDate")),
        Invariant(item, "ttl", "absent on a post, 1 s to 30 days on a tombstone", None, Kind.EXPIRING, Repair.REBUILD),
        Invariant(item, "ttl", "1 s to 30 days if the post is missing", None, Kind.LEFTOVER),
    ]


def _of_itself(item: Item) -> bool:
    return bool(item["id"] == item.get("postId"))


INVARIANTS: tuple[Invariant, ...] = (
    Invariant("user", "id", _ID, _has_id),
    Invariant("user", "userId", "its ID", _is_own_id("userId")),
    Invariant("user", "username", "a name that can be reserved", lambda item: is_username(item.get("username"))),
    Invariant("user", "username", "reserved for this user, forever", None, Kind.RESERVATION, Repair.REBUILD),
    Invariant("user", "creationDate", _DATE, _is_date("creationDate")),
    Invariant("user", "nameVersion", _NAME_VERSION, _is_version),
    Invariant(
        "user",
        "formerUsernames",
        "absent, or an array of names",
        lambda item: (
            "formerUsernames" not in item
            or (isinstance(item["formerUsernames"], list) and all(map(is_username, item["formerUsernames"])))
        ),
    ),
    Invariant("user", "formerUsernames", "absent, once a rename is complete", None, Kind.RENAME, Repair.REBUILD),
    _turns("user"),
    _no_ttl("user"),
    Invariant("deleted user", "userId", "its ID", _is_own_id("userId")),
    Invariant("deleted user", "username", "empty", _is_empty("username"), Kind.DELETION, Repair.REBUILD),
    _turns("deleted user"),
    Invariant(
        "deleted user",
        "ttl",
        "1 s to 30 days, or -1; absent while the deletion is unfinished",
        _is_ttl_of_deleted_user,
        Kind.DELETION,
        Repair.REBUILD,
    ),
    Invariant("reservation", "userId", "its ID", _is_own_id("userId")),
    Invariant(
        "reservation",
        "username",
        "the name in its ID",
        lambda item: (
            isinstance(item.get("username"), str)
            and username_reservations.reservation_id(item["username"]) == item["id"]
        ),
    ),
    Invariant("reservation", "ownerId", "an ID", _is_id("ownerId")),
    Invariant("reservation", "ownerId", "of a user who exists", None, Kind.RESERVATION, Repair.REBUILD),
    Invariant("reservation", "ownerId", "of the user who has the name", None, Kind.ABANDONED, Repair.REBUILD),
    Invariant(
        "reservation",
        "nameVersion",
        "a whole number from 0",
        lambda item: "nameVersion" in item and _is_version(item),
    ),
    Invariant(
        "reservation",
        "reservedTs",
        "absent, or a whole number",
        lambda item: is_whole_number(item.get("reservedTs", 0)),
    ),
    Invariant("post", "id", _ID, _has_id),
    Invariant("post", "postId", "its ID", _is_own_id("postId")),
    Invariant("post", "userId", "an ID", _is_id("userId")),
    Invariant("post", "userId", "of a user", None, Kind.NAME),
    Invariant("post", "userUsername", "the user's username", None, Kind.NAME, Repair.REBUILD),
    Invariant("post", "nameVersion", _NAME_VERSION, _is_version),
    Invariant("post", "nameVersion", "at most the user's", None, Kind.NAME, Repair.REBUILD),
    Invariant("post", "title", "a visible text", _is_text("title")),
    Invariant("post", "content", "a visible text", _is_text("content")),
    Invariant("post", "creationDate", _DATE, _is_date("creationDate")),
    Invariant("post", "editedDate", f"absent, or {_DATE}", _is_date("editedDate", optional=True)),
    Invariant("post", "commentCount", "the number of its comments", None, Kind.COUNT, Repair.REBUILD),
    Invariant("post", "likeCount", "the number of its likes", None, Kind.COUNT, Repair.REBUILD),
    Invariant("post", "version", "a whole number from 1", None, Kind.COUNT, Repair.REBUILD),
    _no_ttl("post"),
    Invariant("tombstone", "postId", "its ID", _is_own_id("postId")),
    Invariant("tombstone", "userId", "an ID", _is_id("userId")),
    _turns("tombstone"),
    Invariant(
        "tombstone",
        "texts and username",
        "empty or absent",
        lambda item: all(_is_empty(name)(item) for name in EMPTIED),
        Kind.LEFTOVER,
        Repair.REBUILD,
    ),
    Invariant("tombstone", "ttl", "1 s to 30 days", expires, Kind.LEFTOVER, Repair.REBUILD),
    Invariant("comment", "id", _ID, _has_id),
    *_response("comment"),
    Invariant("comment", "content", "a visible text", _is_text("content")),
    Invariant("like", "id", "its user's ID", lambda item: item["id"] == item.get("userId") and _has_id(item)),
    *_response("like"),
    Invariant("record", "id", "starts with `idempotency:`", lambda item: item["id"].startswith("idempotency:")),
    Invariant("record", "fingerprint", "a text", _is_text("fingerprint")),
    Invariant("record", "ttl", "1 s to 30 days", expires),
    Invariant("number of exports", "count", "a number", lambda item: is_whole_number(item.get("count"))),
    Invariant("number of exports", "ttl", "1 s to 30 days", expires),
    Invariant("copy", "id", _ID, _has_id),
    Invariant("copy", "userId", "an ID", _is_id("userId")),
    Invariant("copy", "all others", _COPY_KINDS, None, Kind.COPY_STALE, Repair.REBUILD),
    _no_ttl("copy"),
    Invariant("copy in `feed`", "id", _ID, _has_id),
    Invariant("copy in `feed`", "all others", _COPY_KINDS, None, Kind.FEED_STALE, Repair.REBUILD),
    _no_ttl("copy in `feed`"),
    *(
        Invariant("failure", name, "a text", _is_text(name))
        for name in ("source", "container", "itemId", "failureDate")
    ),
    Invariant("failure", "error", "an object", lambda item: isinstance(item.get("error"), dict)),
)
