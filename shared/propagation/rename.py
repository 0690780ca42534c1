"""Rename fan-out: writes a user's current name to their posts, comments and likes.

By transactional batches, or by the article's stored procedure, which has the same condition as `_OUTDATED`. A `Pace`
(pacing.py) leaves some of the database's throughput for readers.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, Final

from shared.models.comment import Comment
from shared.models.like import Like
from shared.models.post import Post
from shared.models.user import name_version, username_to_copy
from shared.platform.database.container import Container, Operation, patch_of
from shared.platform.deliveries.pacing import Pace
from shared.platform.errors import DatabaseUnavailable, NoProgress
from shared.platform.models import Item
from shared.platform.observability.spans import trace_property
from shared.propagation.fan_out import (
    FAN_OUT_REFUSALS,
    ITEMS_PER_TRANSACTION,
    MAX_TRANSACTIONS,
    fan_out,
    write_batch,
    write_found,
)

# The items that do not have the user's current username yet.
_OUTDATED: Final = (
    f"c.userId = @userId AND c.type IN ('{Post.TYPE}', '{Comment.TYPE}', '{Like.TYPE}')"
    " AND (NOT IS_DEFINED(c.userUsername) OR c.userUsername != @username)"
    " AND (NOT IS_DEFINED(c.nameVersion) OR c.nameVersion <= @nameVersion)"
)
_IN_POST: Final = f"SELECT c.id, c.type FROM c WHERE {_OUTDATED} OFFSET 0 LIMIT @limit"  # noqa: S608 - no values


async def fan_out_rename(posts: Container, user: Item, procedure: str | None, pace: Pace) -> int:
    """Rename all posts, comments and likes of the user; return how many.

    Besides the query of `fan_out`, it costs a transaction for each 25 items of a post: a batch, or a call of
    `procedure`. The posts change feed corrects items that are written later with the former name.
    """

    async def rename_in(post_id: str, items: Sequence[Item]) -> None:
        if procedure is not None:
            await _call(procedure, posts, post_id, user, pace, expected=len(items))
            return
        for start in range(0, len(items), ITEMS_PER_TRANSACTION):
            if not await _rename_items(posts, post_id, user, pace, items[start : start + ITEMS_PER_TRANSACTION]):
                await rename_in_post(posts, post_id, user, pace=pace)
                return

    return await fan_out(posts, _OUTDATED, _parameters(user), rename_in, pace)


async def rename_in_post(
    posts: Container, post_id: str, user: Item, *, procedure: str | None = None, pace: Pace | None = None
) -> None:
    """Write the user's current name to all their items of one post; safe to repeat.

    By `write_found` or by calls of `procedure`. Items that a later rename wrote stay unchanged. Raises NoProgress.
    """
    pace = pace or Pace()
    if procedure is not None:
        await _call(procedure, posts, post_id, user, pace, expected=1)
        return
    write = partial(_rename_items, posts, post_id, user, pace)
    await write_found(posts, post_id, _IN_POST, _parameters(user), write)


def is_outdated(item: Item, user: Item) -> bool:
    """Return whether the item has a name from before the user's latest rename. Raises as `username_to_copy`."""
    is_newer = item.get("nameVersion") is not None and item["nameVersion"] > name_version(user)
    return not is_newer and item.get("userUsername") != username_to_copy(user)


async def _rename_items(
    posts: Container, post_id: str, user: Item, pace: Pace, items: Sequence[Item], is_repetition: bool = False
) -> bool:
    """Rename items of one post; only their `id` and `type` are used. Return False if the batch was refused."""
    async with pace.transaction(len(items), is_repetition=is_repetition):
        renames = [_rename(item, user) for item in items]
        return pace.advance(has_written=await write_batch(posts, post_id, renames))


async def _call(procedure: str, posts: Container, post_id: str, user: Item, pace: Pace, *, expected: int) -> None:
    """Call the stored procedure for each 25 items, or earlier if its time runs out.

    It finds the items itself. The pace counts the `expected` number of items.
    """
    options = {"limit": ITEMS_PER_TRANSACTION, **trace_property()}
    without_progress = 0
    for _ in range(MAX_TRANSACTIONS):
        async with pace.transaction(min(expected, ITEMS_PER_TRANSACTION), is_repetition=without_progress > 0):
            answer = await posts.execute(procedure, post_id, *_parameters(user).values(), options)
        pace.advance(has_written=bool(answer["updated"]))
        if not answer["more"]:
            return
        without_progress = 0 if answer["updated"] else without_progress + 1
        if without_progress == FAN_OUT_REFUSALS:
            raise NoProgress(f"{procedure} ran out of time {without_progress} times in a row before it renamed an item")
    raise DatabaseUnavailable(f"{procedure} did not finish in {MAX_TRANSACTIONS} calls")


def _parameters(user: Item) -> dict[str, Any]:
    return {"userId": user["id"], "username": username_to_copy(user), "nameVersion": name_version(user)}


def _rename(item: Item, user: Item) -> Operation:
    version = name_version(user)
    increments = {"version": 1} if item["type"] == Post.TYPE else {}
    patch = patch_of({"userUsername": user["username"], "nameVersion": version, **trace_property()}, **increments)
    # A predicate takes no parameters. Nothing in it comes from a client: a known type and an integer.
    older = f"(NOT IS_DEFINED(c.nameVersion) OR c.nameVersion <= {version:d})"
    return ("patch", (item["id"], patch), {"filter_predicate": f"FROM c WHERE c.type = '{item['type']}' AND {older}"})
