"""Erasure: deletes what a deleted user has written, at the pace of renames.

A deleted post becomes a tombstone, and the posts change feed deletes its copies, comments and likes. A comment or like
on another post is deleted in one transaction with the count of the post, in both transaction modes. The name is also
removed from the tombstones of posts that the user had deleted before, and from `failures`. Each query finds only items
that still exist, so a repeated delivery continues where the last one ended.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from functools import partial
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
from shared.propagation.fan_out import ITEMS_PER_TRANSACTION, fan_out, write_batch, write_found
from shared.transactions.batches import expiries, remove_items

# A damaged post in the partition of another one is left, because deleting it would delete the other post.
_OF_USER: Final = (
    "c.userId = @userId"
    f" AND (c.type IN ('{Comment.TYPE}', '{Like.TYPE}')"
    f" OR (c.id = c.postId AND (c.type = '{Post.TYPE}'"
    f" OR (c.type = '{DELETED_TYPE}' AND IS_DEFINED(c.userUsername) AND c.userUsername != ''))))"
    f" AND (c.type = '{DELETED_TYPE}' OR NOT IS_DEFINED(c.ttl) OR c.ttl = -1)"
)
_FIELDS: Final = ("id", "type", "_etag")
_IN_POST: Final = f"SELECT c.id, c.type, c._etag FROM c WHERE {_OF_USER} OFFSET 0 LIMIT @limit"  # noqa: S608 - no values
_FAILURES: Final = (
    "SELECT c.id, c.source FROM c WHERE c.change.userId = @userId AND (IS_DEFINED(c.change.content)"
    " OR IS_DEFINED(c.change.title) OR IS_DEFINED(c.change.userUsername) OR IS_DEFINED(c.change.username))"
)
_PAGE_SIZE: Final = 100


async def erase(posts: Container, user_id: str, pace: Pace) -> int:
    """Delete the posts, comments and likes of a deleted user; return how many there were.

    The posts change feed deletes those that are written later, because another process still knew the user.
    """

    async def erase_in(post_id: str, items: Sequence[Item]) -> None:
        for start in range(0, len(items), ITEMS_PER_TRANSACTION):
            if not await _erase_items(posts, post_id, pace, items[start : start + ITEMS_PER_TRANSACTION]):
                await erase_in_post(posts, post_id, user_id, pace)
                return

    return await fan_out(posts, _OF_USER, {"userId": user_id}, erase_in, pace, fields=_FIELDS)


async def erase_in_post(posts: Container, post_id: str, user_id: str, pace: Pace) -> None:
    """Delete the post of a deleted user, or their comments and like on a post; safe to repeat. Raises NoProgress.

    See `write_found`.
    """
    await write_found(posts, post_id, _IN_POST, {"userId": user_id}, partial(_erase_items, posts, post_id, pace))


async def erase_from_failures(failures: Container, user_id: str) -> None:
    """Remove the stored changes of a user: a query of the container, and a write for each.

    Versions before the deletion of users stored texts and names with a failure.
    """
    await failures.catch_up()
    found = failures.query_across(_FAILURES, {"userId": user_id}, page_size=_PAGE_SIZE)
    for failure in [failure async for failure in found]:
        with suppress(ItemMissing):  # it has been replayed
            await failures.patch(failure["id"], failure["source"], patch_of({"change": None}))


async def _erase_items(
    posts: Container, post_id: str, pace: Pace, items: Sequence[Item], is_repetition: bool = False
) -> bool:
    """Delete known items of one post; return False if one of them has changed, so that they must be read again."""
    by_type = {item["type"]: item for item in items}
    if Post.TYPE in by_type:
        async with pace.transaction(1):
            with suppress(PostNotFound):
                await delete_post(posts, post_id, by=BackEnd())
        return pace.advance(has_written=True)  # the posts change feed deletes its comments and likes
    if DELETED_TYPE in by_type:
        async with pace.transaction(1):
            with suppress(ItemMissing, ConditionFailed):
                await posts.patch(post_id, post_id, patch_of({"userUsername": ""}))
        return pace.advance(has_written=True)
    async with pace.transaction(len(items), is_repetition=is_repetition):
        try:
            return pace.advance(has_written=await remove_items(posts, post_id, items))
        except PostNotFound:
            return pace.advance(has_written=await write_batch(posts, post_id, expiries(items)))
