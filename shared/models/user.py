"""Users."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, date, datetime, timedelta
from typing import Any, ClassVar, Literal
from urllib.parse import quote

from shared.errors import TooManyRenames
from shared.models.base import DELETED_TTL_S, DELETED_TYPE, UserId, Username
from shared.platform.models import Date, Item, RequestModel, Resource, parse_moment, string_of

# Renames that the users change feed has not finished. More are refused: otherwise, one user could make their item, and
# each of its deliveries, ever larger.
PENDING_RENAMES = 100
_PENDING_S = 10
# All renames of a user: this many, and one more for each hour since the user was created. A request costs 24 RU, but
# the change feed then pays 11 RU for each post, comment and like of the user.
FIRST_RENAMES = 100
_FURTHER_S = 3600


class NewUser(RequestModel):
    """The body that creates a user."""

    username: Username


class UserChanges(RequestModel):
    """The body that edits a user."""

    username: Username


class User(Resource):
    """A user in a response."""

    TYPE: ClassVar[str] = "user"
    INTERNAL: ClassVar[Mapping[str, type]] = {"nameVersion": int, "formerUsernames": list, "editId": str}

    id: UserId
    type: Literal["user"] = "user"
    user_id: UserId
    username: str
    creation_date: Date

    @classmethod
    def entity_tag(cls, item: Mapping[str, Any]) -> str:
        """Return the version of the name and the date of the account, because nothing else changes the response.

        The item's own etag changes once more when the change feed completes a rename. After a tombstone has expired, a
        later account of the user has the same versions.
        """
        return f'"{name_version(item)}-{quote(item["creationDate"], safe=":")}"'

    @classmethod
    def last_edit(cls, item: Mapping[str, Any]) -> str:
        """Return the ETag, which changes only with the name."""
        return cls.entity_tag(item)


def user_item(user_id: str, username: str, creation_date: str) -> Item:
    """Return the item of a new user. It has no `nameVersion` before the first rename."""
    return {"id": user_id, "type": User.TYPE, "userId": user_id, "username": username, "creationDate": creation_date}


def username_to_copy(user: Item) -> str:
    """Return the username for other items. Raises KeyError, TypeError, ValueError if the user is damaged."""
    if not (username := string_of(user, "username")):
        raise ValueError("username must not be empty")
    return username


def name_version(user: Mapping[str, Any]) -> int:
    """Return the version of the user's name. A rename adds one."""
    number: int = user.get("nameVersion", 0)
    return number


def author_properties(user: Item) -> Item:
    """Return the denormalized copy of a user on a post, comment or like.

    It has `nameVersion`, so that only a later username replaces it. Most users have none, which keeps items small.
    """
    signed = {"userId": user["userId"], "userUsername": user["username"]}
    return signed if "nameVersion" not in user else signed | {"nameVersion": user["nameVersion"]}


def renamed(user: Item, username: str) -> Item:
    """Return the item of `user` under a new username.

    The users change feed updates the copies, releases the reservations of `formerUsernames`, and removes that list.
    Raises TooManyRenames.
    """
    former = [name for name in user.get("formerUsernames", []) if name not in (user["username"], username)]
    former.append(user["username"])
    excess = name_version(user) - FIRST_RENAMES + 1
    wait_s = max(excess * _FURTHER_S - _age_s(user), _PENDING_S if len(former) > PENDING_RENAMES else 0)
    if wait_s > 0:
        raise TooManyRenames(wait_s)
    return user | {"username": username, "nameVersion": name_version(user) + 1, "formerUsernames": former}


def tombstone_of(user: Item) -> Item:
    """Return the tombstone that replaces a deleted user.

    All their usernames are in `formerUsernames`, which the users change feed releases and removes, as after a rename.
    """
    kept = {name: user[name] for name in ("id", "userId", "creationDate")}
    former = [*user.get("formerUsernames", []), user["username"]]
    return {**kept, "type": DELETED_TYPE, "username": "", "formerUsernames": former}


def is_deleted(user: Mapping[str, Any]) -> bool:
    return user.get("type") == DELETED_TYPE


def next_registration(tombstone: Mapping[str, Any]) -> date | None:
    """Return the day from which the deleted user can register again, or None if never.

    A tombstone expires `DELETED_TTL_S` after its last write. The deletion writes it once more when it ends, so the
    date is one day later. With the `ttl` -1, the tombstone never expires.
    """
    if tombstone.get("ttl") == -1:
        return None
    return datetime.fromtimestamp(tombstone["_ts"] + DELETED_TTL_S, UTC).date() + timedelta(days=1)


def _age_s(user: Item) -> float:
    """Return the seconds since the user was created: 0 if the date is damaged or in the future."""
    try:
        return max(0.0, (datetime.now(UTC) - parse_moment(user["creationDate"])).total_seconds())
    except ValueError:
        return 0.0
