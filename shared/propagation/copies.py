"""The copies of posts: in `users` beside their author, in `feed` among the most recent."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass

from shared.batcher import Batcher
from shared.cosmos import BATCH_LIMIT, BatchRefused, ConditionFailed, Container, ItemExists, ItemMissing
from shared.errors import DatabaseThrottled, DatabaseUnavailable
from shared.models.base import Item
from shared.models.post import Post, short_form, version_of
from shared.retries import COPY_ATTEMPTS

# What of a copy can change after its creation: within the ten operations of one patch.
_CHANGING = ("userUsername", "title", "content", "commentCount", "likeCount", "version")
# These end the whole batch of changes; any other error belongs to one change.
_DATABASE_ERRORS = (DatabaseThrottled, DatabaseUnavailable)


def post_reads(posts: Container) -> Batcher[None, str, Item | None]:
    """Return a batcher that reads posts by id, concurrent ones in one query if that is cheaper."""

    async def read(_: None, ids: Sequence[str]) -> list[Item | None]:
        found = {post["id"]: post for post in await posts.read_many(sorted(set(ids)))}
        return [found.get(post_id) for post_id in ids]

    return Batcher(read, limit=BATCH_LIMIT, shared_errors=_DATABASE_ERRORS)


def copy_creations(container: Container) -> Batcher[str, Item, bool]:
    """Return a batcher that creates copies by partition key, and returns False for those that exist."""

    async def create(partition_key: str, copies: Sequence[Item]) -> list[bool]:
        missing = list(copies)
        while missing:
            try:
                await container.batch(partition_key, [("create", (copy,)) for copy in missing])
                break
            except BatchRefused as refused:
                if not isinstance(refused.reason, ItemExists):
                    raise
                del missing[refused.index]
        return [any(copy is one for one in missing) for copy in copies]

    return Batcher(create, limit=BATCH_LIMIT, shared_errors=_DATABASE_ERRORS)


@dataclass(frozen=True)
class Copies:
    """One place of copies: its container, the property that is its partition key, and the trigger of its creations.

    In a batch of changes `looks` are shared with the other place, and `creations` go together where all copies are in
    one logical partition."""

    container: Container
    posts: Container
    partition_key: str
    trigger: str | None = None
    looks: Batcher[None, str, Item | None] | None = None
    creations: Batcher[str, Item, bool] | None = None

    async def put(self, post: Item, *, present: bool = True) -> None:
        """Make the copy show `post`, unless it shows a later state: one write, or two where there was no copy.

        `present` says whether a copy is expected; the wrong guess costs one refused write. The condition and the write
        are one operation, so that two deliveries of different states may meet in any order. What a condition on the
        copy cannot see is that the post was deleted, and its copy with it, before a late delivery creates it again;
        so after a creation the post is read once more. So it is where the copy shows the state already: it may be that
        an earlier delivery of it created the copy and failed before it could look.
        """
        copy = short_form(post)
        for _ in range(COPY_ATTEMPTS):
            if present:
                with suppress(ItemMissing):
                    if not await self._update(copy):
                        await self._check_against(copy)
                    return
            if await self._create(copy):
                await self._check_against(copy)
                return
            present = True
        raise DatabaseUnavailable("a copy was created and deleted again and again")

    async def _update(self, copy: Item) -> bool:
        """False when it shows this state or a later one already. Raises ItemMissing."""
        operations = [{"op": "set", "path": f"/{name}", "value": copy[name]} for name in _CHANGING]
        # The predicate takes no parameters; the one value in it is a number that was checked to be one. A post from
        # before posts had versions, 0, may replace its like.
        older = f"FROM c WHERE NOT IS_DEFINED(c.version) OR c.version < {max(copy['version'], 1):d}"
        try:
            await self.container.patch(copy["id"], copy[self.partition_key], operations, predicate=older)
        except ConditionFailed:
            return False
        return True

    async def _create(self, copy: Item) -> bool:
        """False when there is a copy already."""
        if self.creations is not None:
            return await self.creations.submit(copy[self.partition_key], copy)
        try:
            await self.container.create(copy, post_trigger=self.trigger)
        except ItemExists:
            return False
        return True

    async def _check_against(self, copy: Item) -> None:
        post_id = copy["id"]
        post = await (self.looks.submit(None, post_id) if self.looks else self.posts.read(post_id, post_id))
        if post is None or post["type"] != Post.TYPE:
            await self.remove(copy)
        elif version_of(post) > copy["version"]:
            await self.put(post)

    async def remove(self, post: Item) -> None:
        """Take the copy away, if there is one: one write. Takes the post, also a deleted one, or the copy."""
        key = Post.TYPE if self.partition_key == "type" else post[self.partition_key]
        with suppress(ItemMissing):
            await self.container.delete(post["id"], key)
