"""Rename fan-out: writes a user's current name to their posts, comments and likes.

By transactional batches, or by the article's stored procedure, which has the same condition as `_OUTDATED`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from shared.models.comment import Comment
from shared.models.like import Like
from shared.models.post import Post
from shared.models.user import name_version, username_to_copy
from shared.platform.database.container import Container, Operation, patch_of
from shared.platform.deliveries.pacing import Pace
from shared.platform.models import Item
from shared.platform.telemetry import trace_property
from shared.propagation.fan_out import ITEMS_PER_TRANSACTION, FanOut, write_batch

# The items that do not have the user's current username yet.
_OUTDATED: Final = (
    f"c.userId = @userId AND c.type IN ('{Post.TYPE}', '{Comment.TYPE}', '{Like.TYPE}')"
    " AND (NOT IS_DEFINED(c.userUsername) OR c.userUsername != @username)"
    " AND (NOT IS_DEFINED(c.nameVersion) OR c.nameVersion <= @nameVersion)"
)


def rename_items(posts: Container, user: Item, procedure: str | None, pace: Pace) -> FanOut:
    """Return the fan-out that writes the user's current name to all their posts, comments and likes.

    By a batch for each 25 items of a post, or by a call of the stored procedure, which finds them itself. Items that a
    later rename wrote stay unchanged. The posts change feed corrects items that are written later with the former name.
    """
    parameters = {"userId": user["id"], "username": username_to_copy(user), "nameVersion": name_version(user)}

    async def write(post_id: str, items: Sequence[Item]) -> int:
        return await write_batch(posts, post_id, [_rename(item, user) for item in items])

    async def call(post_id: str, _: Sequence[Item]) -> int:
        options = {"limit": ITEMS_PER_TRANSACTION, **trace_property()}
        answer: dict[str, Any] = await posts.execute(str(procedure), post_id, *parameters.values(), options)
        return int(answer["updated"])  # fewer if its time ran out

    return FanOut(posts, _OUTDATED, parameters, call if procedure else write, pace)


def is_outdated(item: Item, user: Item) -> bool:
    """Return whether the item has a name from before the user's latest rename. Raises as `username_to_copy`."""
    is_newer = item.get("nameVersion") is not None and item["nameVersion"] > name_version(user)
    return not is_newer and item.get("userUsername") != username_to_copy(user)


def _rename(item: Item, user: Item) -> Operation:
    version = name_version(user)
    increments = {"version": 1} if item["type"] == Post.TYPE else {}
    patch = patch_of({"userUsername": user["username"], "nameVersion": version, **trace_property()}, **increments)
    # A predicate takes no parameters. Nothing in it comes from a client: a known type and an integer.
    older = f"(NOT IS_DEFINED(c.nameVersion) OR c.nameVersion <= {version:d})"
    return ("patch", (item["id"], patch), {"filter_predicate": f"FROM c WHERE c.type = '{item['type']}' AND {older}"})
