"""Names on posts, comments and likes: carried to all of a user's items after a rename, and set right on single items
that were written with a name read before it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from shared.cosmos import Container
from shared.models.base import Item
from shared.models.fields import is_item_id
from shared.models.user import name_version
from shared.propagation.batches import for_each
from shared.transactions import Transactions
from shared.transactions.batches import OUTDATED, outdated_parameters

_PAGE_SIZE = 1000
# Each rename in a partition is one call or two, so that the database's latency is what is waited for.
_CONCURRENCY = 32

_EVERYWHERE = f"SELECT c.id, c.type, c.postId FROM c WHERE {OUTDATED}"  # noqa: S608 - a constant of ours


async def carry_to_items(posts: Container, user: Item, transactions: Transactions) -> None:
    """Give all posts, comments and likes of the user his present name, wherever they are.

    The one query that finds them reaches all of `posts`: no other container knows where a user has commented or liked,
    and renames are rare. Then one transaction per logical partition, many partitions at once. What is written with the
    old name while this goes on is the posts feed's to correct.
    """
    by_post: defaultdict[str, list[Item]] = defaultdict(list)
    async for item in posts.query_across(_EVERYWHERE, outdated_parameters(user), page_size=_PAGE_SIZE):
        by_post[str(item["postId"])].append(item)

    async def rename(post_id: str) -> None:
        await transactions.rename_items(posts, post_id, by_post[post_id], user)

    await for_each(list(by_post), rename, concurrency=_CONCURRENCY)


class CurrentUsers:
    """The users of a batch's items as they are now, read together."""

    def __init__(self, users: Container) -> None:
        self._users = users
        self._found: dict[str, Item] = {}

    async def read(self, items: Sequence[Item]) -> None:
        """Read the users of the items: a point read each, or a query per physical partition where that is cheaper."""
        named = {user_id for item in items if isinstance(user_id := item.get("userId"), str) and is_item_id(user_id)}
        self._found |= {user["id"]: user for user in await self._users.read_many(sorted(named - set(self._found)))}

    def of(self, item: Item) -> Item | None:
        """The user whose item this is; None where there is no such user. Raises KeyError, TypeError for an item that
        names none."""
        user_id = item["userId"]
        if not isinstance(user_id, str):
            raise TypeError(f"userId must be a text, not {user_id!r}")
        return self._found.get(user_id)


def is_outdated(item: Item, user: Item) -> bool:
    """Whether the item has a name that the user had before his present one."""
    version: Any = item.get("nameVersion")
    later = version is not None and version > name_version(user)
    return not later and item.get("userUsername") != user["username"]
