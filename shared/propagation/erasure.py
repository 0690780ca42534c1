"""Erasure: deletes what a deleted user has written, at the pace of renames.

A deleted post becomes a tombstone, and the posts change feed deletes its copies, comments and likes. A comment or like
on another post is deleted in one transaction with the count of the post, in both transaction modes. Each query finds
only items that still exist, so a repeated delivery continues where the last one ended.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import Final

from shared.data.posts import delete_post
from shared.errors import PostNotFound
from shared.models.comment import Comment
from shared.models.like import Like
from shared.models.post import Post
from shared.platform.database.container import Container
from shared.platform.deliveries.pacing import Pace
from shared.platform.errors import ItemDamaged
from shared.platform.http.callers import BackEnd
from shared.platform.models import Item
from shared.propagation.fan_out import FanOut, write_batch
from shared.transactions.batches import expiries, remove_items

# A damaged post in the partition of another one is left, because deleting it would delete the other post.
_OF_USER: Final = (
    "c.userId = @userId"
    f" AND (c.type IN ('{Comment.TYPE}', '{Like.TYPE}') OR (c.type = '{Post.TYPE}' AND c.id = c.postId))"
    " AND (NOT IS_DEFINED(c.ttl) OR c.ttl = -1)"
)


def erasure_of(posts: Container, user_id: str, pace: Pace) -> FanOut:
    """Return the fan-out that deletes the posts, comments and likes of a deleted user.

    The posts change feed deletes those that are written later, because another process still knew the user.
    """

    async def write(post_id: str, items: Sequence[Item]) -> int:
        if any(item["type"] == Post.TYPE for item in items):
            with suppress(PostNotFound):
                await delete_post(posts, post_id, by=BackEnd())
            return len(items)  # the posts change feed deletes its comments and likes
        try:
            return len(items) if await remove_items(posts, post_id, items) else 0
        except (PostNotFound, ItemDamaged):  # without a count that could be changed
            return await write_batch(posts, post_id, expiries(items))

    return FanOut(posts, _OF_USER, {"userId": user_id}, write, pace, fields=("id", "type", "_etag"))
