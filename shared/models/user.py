"""Users: who writes, comments and likes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Literal

from shared.models.base import Item, RequestModel, Resource
from shared.models.fields import CreationDate, UserId, Username


class NewUser(RequestModel):
    """The body that creates a user."""

    username: Username


class UserChanges(RequestModel):
    """The body that edits a user."""

    username: Username


class User(Resource):
    """A user, as the API shows it."""

    TYPE: ClassVar[str] = "user"

    id: UserId
    type: Literal["user"] = "user"
    user_id: UserId
    username: str
    creation_date: CreationDate

    @classmethod
    def entity_tag(cls, item: Mapping[str, Any]) -> str:
        """The number of the name, the only thing of a user that changes: the item's own etag changes once more when a
        rename has been settled, and whoever holds it would be told of a change that he cannot see."""
        return f'"{name_version(item)}"'


def user_item(user_id: str, username: str, creation_date: str) -> Item:
    """The item of a new user. It has no `nameVersion`, the number of renames, before the first."""
    return {
        "id": user_id,
        "type": User.TYPE,
        "userId": user_id,
        "username": username,
        "creationDate": creation_date,
    }


def name_version(user: Mapping[str, Any]) -> int:
    """How often the user was renamed."""
    number: int = user.get("nameVersion", 0)
    return number


def signature(user: Item) -> Item:
    """What of a user a post, a comment or a like carries. The number of renames says how late the name is, so that it
    is only ever replaced by a later one; most users never have one, and what is not stored is not read again with every
    item."""
    signed = {"userId": user["userId"], "userUsername": user["username"]}
    return signed if "nameVersion" not in user else signed | {"nameVersion": user["nameVersion"]}


def renamed(user: Item, username: str) -> Item:
    """The item of `user` under a new name. `formerUsernames` are names whose copies and reservations have yet to be
    settled by the users change feed, which empties the list."""
    former = [*user.get("formerUsernames", []), user["username"]]
    return user | {
        "username": username,
        "nameVersion": name_version(user) + 1,
        "formerUsernames": former,
    }
