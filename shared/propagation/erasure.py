"""Erasure: deletes what a deleted user has written, at the pace of renames.

A deleted post becomes a tombstone, and the posts change feed deletes its copies, comments and likes. A comment or like
on another post is deleted in one transaction with the count of the post, in both transaction modes. The name is also
removed from the tombstones of posts that the user had deleted before, and from `failures`. Each query finds only items
that still exist, so a repeated delivery continues where the last one ended.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import Final

from shared.data.posts import delete_post
from shared.errors import PostNotFound
from shared.models.base import DELETED_TYPE
from shared.models.comment import Comment
from shared.models.like import Like
from shared.models.post import Post
from shared.platform.database.container import Container, patch_of
from shared.platform.database.refusals import ConditionFailed, ItemMissing
from shared.platform.deliveries.pacing import Pace
from shared.platform.http.callers import BackEnd
from shared.platform.models import Item
from shared.propagation.fan_out import FanOut, write_batch
from shared.transactions.batches import expiries, remove_items

# A damaged post in the partition of another one is left, because deleting it would delete the other post.
_OF_USER: Final = (
    "c.userId = @userId"
    f" AND (c.type IN ('{Comment.TYPE}', '{Like.TYPE}')"
    f" OR (c.id = c.postId AND (c.type = '{Post.TYPE}'"
    f" OR (c.type = '{DELETED_TYPE}' AND IS_DEFINED(c.userUsername) AND c.userUsername != ''))))"
    f" AND (c.type = '{DELETED_TYPE}' OR NOT IS_DEFINED(c.ttl) OR c.ttl = -1)"
)
_FAILURES: Final = (
    "SELECT c.id, c.source FROM c WHERE c.change.userId = @userId AND (IS_DEFINED(c.change.content)"
    " OR IS_DEFINED(c.change.title) OR IS_DEFINED(c.change.userUsername) OR IS_DEFINED(c.change.username))"
)


def erasure_of(posts: Container, user_id: str, pace: Pace) -> FanOut:
    """Return the fan-out that deletes the posts, comments and likes of a deleted user.

    The posts change feed deletes those that are written later, because another process still knew the user.
    """

    async def write(post_id: str, items: Sequence[Item]) -> int:
        types = {item["type"] for item in items}
        if Post.TYPE in types:
            with suppress(PostNotFound):
                await delete_post(posts, post_id, by=BackEnd())
            return len(items)  # the posts change feed deletes its comments and likes
        if DELETED_TYPE in types:
            with suppress(ItemMissing, ConditionFailed):
                await posts.patch(post_id, post_id, patch_of({"userUsername": ""}))
            return len(items)
        try:
            return len(items) if await remove_items(posts, post_id, items) else 0
        except PostNotFound:
            return await write_batch(posts, post_id, expiries(items))

    return FanOut(posts, _OF_USER, {"userId": user_id}, write, pace, fields=("id", "type", "_etag"))


async def erase_from_failures(failures: Container, user_id: str) -> None:
    """Remove the stored changes of a user: a query of the container, and a write for each.

    Versions before the deletion of users stored texts and names with a failure.
    """
    await failures.catch_up()
    found = failures.query_across(_FAILURES, {"userId": user_id}, page_size=100)
    for failure in [failure async for failure in found]:
        with suppress(ItemMissing):  # it has been replayed
            await failures.patch(failure["id"], failure["source"], patch_of({"change": None}))
