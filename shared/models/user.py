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
        return f'"{item.get("nameVersion", 0)}"'


def user_item(user_id: str, username: str, creation_date: str) -> Item:
    """The item of a new user. `nameVersion` counts the names the user has had: each copy of a name carries the number
    of its name, so that a copy is only ever replaced by a later one."""
    return {
        "id": user_id,
        "type": User.TYPE,
        "userId": user_id,
        "username": username,
        "nameVersion": 1,
        "creationDate": creation_date,
    }


def renamed(user: Item, username: str) -> Item:
    """The item of `user` under a new name. `formerUsernames` are names whose copies and reservations have yet to be
    settled by the users change feed, which empties the list."""
    former = [*user.get("formerUsernames", []), user["username"]]
    return user | {
        "username": username,
        "nameVersion": user.get("nameVersion", 0) + 1,
        "formerUsernames": former,
    }
