"""Names on posts, comments and likes: carried to all of a user's items after a rename, and set right on single items
that were written with a name read before it."""

from __future__ import annotations

import asyncio
from typing import Any

from shared.cosmos import Container
from shared.errors import DatabaseUnavailable
from shared.models.base import Item
from shared.propagation.batches import for_each

_PAGE_SIZE = 1000
_MOST_CALLS = 10_000

_OUTDATED = (
    "SELECT VALUE c.postId FROM c WHERE c.userId = @userId AND c.type IN ('post', 'comment', 'like')"
    " AND (NOT IS_DEFINED(c.userUsername) OR c.userUsername != @username)"
    " AND (NOT IS_DEFINED(c.nameVersion) OR c.nameVersion <= @nameVersion)"
)


async def carry_to_items(posts: Container, user: Item) -> None:
    """Give all posts, comments and likes of the user his present name, wherever they are.

    The one query that finds the logical partitions concerned reaches all of `posts`: no other container knows where a
    user has commented or liked, and renames are rare. Then one stored procedure per partition, or more where it stops
    for time, several partitions at once. What is written with the old name while this goes on is the posts feed's to
    correct.
    """
    parameters = {"userId": user["id"], "username": user["username"], "nameVersion": user["nameVersion"]}

    async def rename(post_id: str) -> None:
        await rename_in_post(posts, post_id, user)

    rows = posts.query_across(_OUTDATED, parameters, page_size=_PAGE_SIZE)
    await for_each({str(post_id) async for post_id in rows}, rename)


async def rename_in_post(posts: Container, post_id: str, user: Item) -> None:
    """Give the user's items in one post's partition his present name: one stored procedure, or more where it stops
    for time. Raises DatabaseUnavailable when the procedure makes no headway."""
    for _ in range(_MOST_CALLS):
        answer = await posts.execute(
            "updateUsernames", post_id, user["id"], user["username"], user.get("nameVersion", 0)
        )
        if not answer["more"]:
            return
        if not answer["updated"]:
            raise DatabaseUnavailable("updateUsernames had no time to rename a single item")
    raise DatabaseUnavailable("updateUsernames did not come to an end")


class CurrentUsers:
    """The users of a batch's items, each read once: one point read per user."""

    def __init__(self, users: Container) -> None:
        self._users = users
        self._reads: dict[str, asyncio.Task[Item | None]] = {}

    async def of(self, item: Item) -> Item | None:
        """The user whose item this is; None where there is no such user."""
        user_id = item["userId"]
        if user_id not in self._reads:
            self._reads[user_id] = asyncio.create_task(self._users.read(user_id, user_id))
        return await asyncio.shield(self._reads[user_id])


def is_outdated(item: Item, user: Item) -> bool:
    """Whether the item has a name that the user had before his present one."""
    version: Any = item.get("nameVersion")
    later = version is not None and version > user.get("nameVersion", 0)
    return not later and item.get("userUsername") != user["username"]
