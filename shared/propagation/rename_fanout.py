"""Rename fan-out: copies a user's current name to their posts, comments and likes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from shared.cosmos import Container
from shared.models.base import Item
from shared.models.fields import is_item_id
from shared.models.user import name_version
from shared.propagation.change_feed import for_each
from shared.transactions import Transactions
from shared.transactions.batches import OUTDATED, outdated_parameters

_PAGE_SIZE = 1000

_EVERYWHERE = f"SELECT c.id, c.type, c.postId FROM c WHERE {OUTDATED}"  # noqa: S608 - constant


async def fan_out_rename(posts: Container, user: Item, transactions: Transactions) -> None:
    """Rename all posts, comments and likes of the user.

    Costs one query over all partitions, because no container records where a user has commented or liked, and then one
    transaction per post. Items written with the old name during the fan-out are corrected by the posts change feed.
    """
    by_post: defaultdict[str, list[Item]] = defaultdict(list)
    async for item in posts.query_across(_EVERYWHERE, outdated_parameters(user), page_size=_PAGE_SIZE):
        by_post[str(item["postId"])].append(item)

    async def rename(post_id: str) -> None:
        await transactions.rename_items(posts, post_id, by_post[post_id], user)

    await for_each(list(by_post), rename)


class CurrentUsers:
    """The current state of the users whose items are in a batch."""

    def __init__(self, users: Container) -> None:
        self._users = users
        self._found: dict[str, Item] = {}

    async def read(self, items: Sequence[Item]) -> None:
        """Read the users of the items: a point read each, or a query per physical partition if that is cheaper."""
        named = {user_id for item in items if isinstance(user_id := item.get("userId"), str) and is_item_id(user_id)}
        self._found = {user["id"]: user for user in await self._users.read_many(sorted(named))}

    def of(self, item: Item) -> Item | None:
        """Return the item's user, None if unknown. Raises KeyError, TypeError if the item has no valid `userId`."""
        user_id = item["userId"]
        if not isinstance(user_id, str):
            raise TypeError(f"userId must be a string, not {user_id!r}")
        return self._found.get(user_id)


def is_outdated(item: Item, user: Item) -> bool:
    """Return whether the item has a name from before the user's latest rename."""
    version: Any = item.get("nameVersion")
    is_newer = version is not None and version > name_version(user)
    return not is_newer and item.get("userUsername") != user["username"]
