"""Transactions by stored procedures; see stored_procedures/README.md."""

from __future__ import annotations

from collections.abc import Sequence

from shared.cosmos import Container, ScriptFailed
from shared.data.posts import get_post
from shared.errors import (
    CommentNotFound,
    DatabaseUnavailable,
    IdempotencyKeyReused,
    NoProgress,
    PostNotFound,
    VersionMismatch,
)
from shared.models.base import Item, edit_of
from shared.models.comment import Comment
from shared.models.user import name_version
from shared.observability.spans import stamp
from shared.pace import ITEMS_PER_TRANSACTION, Pace
from shared.retries import RENAMING_REFUSALS
from shared.transactions.batches import Added

_NOT_FOUND, _DELETED, _CONDITION_FAILED, _KEY_REUSED = 404, 410, 412, 422
_MAX_CALLS = 10_000


class Procedures:
    """The same operations as `Batches`, with the same results and errors."""

    feed_trigger: str | None = "truncateFeed"

    async def add(self, posts: Container, item: Item, record: Item | None = None) -> Added:
        """One stored procedure."""
        procedure = "createComment" if item["type"] == Comment.TYPE else "createLike"
        try:
            answer = await posts.execute(procedure, item["postId"], item, record)
        except ScriptFailed as failure:
            if failure.number == _NOT_FOUND:
                raise PostNotFound(item["postId"]) from failure
            if failure.number == _DELETED:
                raise CommentNotFound(item["id"]) from failure
            if failure.number == _KEY_REUSED:
                raise IdempotencyKeyReused from failure
            raise
        return Added(answer["item"], answer["created"])

    async def remove(self, posts: Container, post_id: str, item_id: str, kind: str, *, etag: str | None) -> bool:
        """One stored procedure, and a point read of the post if it finds no comment."""
        procedure = "deleteComment" if kind == Comment.TYPE else "deleteLike"
        try:
            edit = None if etag is None else edit_of(etag)
            answer = await posts.execute(procedure, post_id, post_id, item_id, edit, *stamp().values())
        except ScriptFailed as failure:
            if failure.number == _NOT_FOUND:
                await get_post(posts, post_id)
                return False
            if failure.number == _CONDITION_FAILED:
                raise VersionMismatch from failure
            raise
        return bool(answer["deleted"])

    async def rename_in_post(self, posts: Container, post_id: str, user: Item, pace: Pace | None = None) -> None:
        """One stored procedure, called again for each 25 items, or earlier if time runs out. Raises NoProgress."""
        await self._rename(posts, post_id, user, pace or Pace(), ITEMS_PER_TRANSACTION)

    async def rename_items(self, posts: Container, post_id: str, items: Sequence[Item], user: Item, pace: Pace) -> None:
        """Same as `rename_in_post`: the procedure finds the items itself."""
        await self._rename(posts, post_id, user, pace, min(len(items), ITEMS_PER_TRANSACTION))

    async def _rename(self, posts: Container, post_id: str, user: Item, pace: Pace, expected: int) -> None:
        vain = 0
        for _ in range(_MAX_CALLS):
            name = user["id"], user["username"], name_version(user)
            options = stamp().get("traceparent"), ITEMS_PER_TRANSACTION
            async with pace.transaction(expected):
                answer = await posts.execute("updateUsernames", post_id, *name, *options)
            if not answer["more"]:
                return
            vain = 0 if answer["updated"] else vain + 1
            if vain == RENAMING_REFUSALS:
                raise NoProgress(f"updateUsernames ran out of time {vain} times in a row before it renamed an item")
        raise DatabaseUnavailable(f"updateUsernames did not finish in {_MAX_CALLS} calls")
