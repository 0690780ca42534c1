"""Rename fan-out: copies a user's current name to their posts, comments and likes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from shared.cosmos import Container
from shared.models.base import Item
from shared.models.user import name_version
from shared.pace import Pace
from shared.propagation.change_feed import for_each
from shared.transactions import Transactions
from shared.transactions.batches import OUTDATED, outdated_parameters

_PORTION = 1000

_EVERYWHERE = f"SELECT c.id, c.type, c.postId FROM c WHERE {OUTDATED}"  # noqa: S608 - constant


async def fan_out_rename(posts: Container, user: Item, transactions: Transactions, pace: Pace) -> int:
    """Rename all posts, comments and likes of the user; return how many.

    Costs one query over all partitions, because no container records where a user has commented or liked, and then a
    transaction for each 25 items of a post. The query sees every item from before it. Later ones with the old name are
    corrected by the posts change feed.

    Each portion is renamed before the next one is read, so the next delivery of an unfinished batch finds fewer items.
    """

    async def rename(items: Sequence[Item]) -> None:
        by_post: defaultdict[str, list[Item]] = defaultdict(list)
        for item in items:
            by_post[str(item["postId"])].append(item)
        await for_each(by_post, lambda post_id: transactions.rename_items(posts, post_id, by_post[post_id], user, pace))

    await posts.catch_up()
    portion: list[Item] = []
    count = 0
    async for item in posts.query_across(_EVERYWHERE, outdated_parameters(user), page_size=_PORTION):
        portion.append(item)
        count += 1
        if len(portion) == _PORTION:
            await rename(portion)
            portion = []
    await rename(portion)
    return count


def is_outdated(item: Item, user: Item) -> bool:
    """Return whether the item has a name from before the user's latest rename."""
    is_newer = item.get("nameVersion") is not None and item["nameVersion"] > name_version(user)
    return not is_newer and item.get("userUsername") != user["username"]
