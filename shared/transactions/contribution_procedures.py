"""Comments and likes by the stored procedures createComment, createLike, deleteComment and deleteLike: one execution
each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from shared.cosmos import Container, ScriptFailed
from shared.data.contributions import Added
from shared.data.posts import get_post
from shared.errors import CommentNotFound, PostNotFound, VersionMismatch
from shared.models.base import Item
from shared.models.comment import Comment

_NOT_FOUND, _DELETED_SINCE, _CONDITION_FAILED = 404, 410, 412


@dataclass(frozen=True)
class ContributionProcedures:
    """See `shared.data.contributions.Contributions`."""

    async def add(self, posts: Container, item: Item) -> Added:
        """One stored procedure."""
        procedure = "createComment" if item["type"] == Comment.TYPE else "createLike"
        try:
            answer: dict[str, Any] = await posts.execute(procedure, item["postId"], item)
        except ScriptFailed as failure:
            if failure.number == _NOT_FOUND:
                raise PostNotFound(item["postId"]) from failure
            if failure.number == _DELETED_SINCE:
                raise CommentNotFound(item["id"]) from failure
            raise
        return Added(answer["item"], answer["created"])

    async def remove(self, posts: Container, post_id: str, item_id: str, kind: str, *, etag: str | None) -> bool:
        """One stored procedure, and a point read where it finds no comment."""
        procedure = "deleteComment" if kind == Comment.TYPE else "deleteLike"
        try:
            answer: dict[str, Any] = await posts.execute(procedure, post_id, post_id, item_id, etag)
        except ScriptFailed as failure:
            if failure.number == _NOT_FOUND:
                await get_post(posts, post_id)
                return False
            if failure.number == _CONDITION_FAILED:
                raise VersionMismatch from failure
            raise
        return bool(answer["deleted"])
