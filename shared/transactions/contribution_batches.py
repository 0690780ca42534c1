"""Comments and likes by transactional batches: the item and the post's count in one, without a script.

Both go to `post_commits`, which puts what waits for one post into one batch. Here stands what a single comment or like
asks for: given the item that has its id, which operation it takes, or the answer where none is needed.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from shared.cosmos import Container, Operation
from shared.data.contributions import EARLIER, MARKS, REPEATABLE_S, Added, knows, with_earlier
from shared.errors import CommentNotFound, VersionMismatch
from shared.models.base import Item
from shared.models.comment import Comment
from shared.models.like import Like
from shared.transactions.post_commits import Answer, Note, PostCommits

_COUNTS = {Comment.TYPE: "commentCount", Like.TYPE: "likeCount"}


@dataclass(frozen=True)
class ContributionBatches:
    """See `shared.data.contributions.Contributions`."""

    commits: PostCommits = field(default_factory=PostCommits)

    async def add(self, posts: Container, item: Item) -> Added:
        """One batch, or a share in one; where the item is there already, a refused one and a point read, and for a like
        under a new command another point read and a small batch."""
        return await self.commits.commit(posts, item["postId"], _Addition(item))

    async def remove(self, posts: Container, post_id: str, item_id: str, kind: str, *, etag: str | None) -> bool:
        """A point read and one batch, or a share in one. Where there is nothing to remove: a point read, a batch that
        reads the post, and another point read, for a replica may not know yet what there is."""
        return await self.commits.commit(posts, post_id, _Removal(item_id, kind, etag))


@dataclass(frozen=True)
class _Addition:
    item: Item

    @property
    def item_id(self) -> str:
        return str(self.item["id"])

    @property
    def count(self) -> tuple[str, int]:
        return _COUNTS[self.item["type"]], 1

    @property
    def first(self) -> Operation:
        return ("create", (self.item,))

    def decide(self, existing: Item | None) -> Operation | Note[Added] | Answer[Added]:
        if existing is None:
            return self.first
        if self.item["type"] == Like.TYPE:
            return self._decide_like(existing)
        if existing.get("type") == Comment.TYPE:
            return Answer(Added(existing, created=False))
        raise CommentNotFound(self.item_id)  # the id is the command's

    def _decide_like(self, existing: Item) -> Operation | Note[Added] | Answer[Added]:
        command, is_there = self.item.get("commandId"), existing.get("type") == Like.TYPE
        condition = {"if_match_etag": existing["_etag"]}
        if command is not None and knows(existing, command):
            return Answer(Added(existing | {"type": Like.TYPE}, created=False))
        if not is_there:
            liked = self.item | with_earlier(existing, existing.get("commandId"))
            return ("replace", (self.item_id, liked), condition)
        if command is None:
            return Answer(Added(existing, created=False))
        kept = with_earlier(existing, command)
        patch = [{"op": "set", "path": f"/{EARLIER}", "value": kept[EARLIER]}]
        return Note(("patch", (self.item_id, patch), condition), lambda like: Added(like, created=False))

    def done(self, written: Item) -> Added:
        return Added(written, created=True)


@dataclass(frozen=True)
class _Removal:
    item_id: str
    kind: str
    etag: str | None

    @property
    def count(self) -> tuple[str, int]:
        return _COUNTS[self.kind], -1

    @property
    def first(self) -> None:
        return None

    def decide(self, existing: Item | None) -> Operation | Answer[bool]:
        if existing is None or existing.get("type") != self.kind:
            if self.etag is not None and self.kind == Like.TYPE:
                raise VersionMismatch
            return Answer(False)
        if self.etag is not None and existing["_etag"] != self.etag:
            raise VersionMismatch
        condition = {"if_match_etag": existing["_etag"]}
        if existing.get("commandId") is None and EARLIER not in existing:
            return ("delete", (self.item_id,), condition)
        return ("replace", (self.item_id, _mark(existing)), condition)

    def done(self, _: Item) -> bool:
        return True


def _mark(item: Item) -> Item:
    """What stays of a deleted comment or like. Of a like all, for a repeated command is answered with it."""
    kept = item if item["type"] == Like.TYPE else {"id": item["id"], "postId": item["postId"]}
    return kept | {"type": MARKS[item["type"]], "ttl": REPEATABLE_S}
