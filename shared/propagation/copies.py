"""Denormalized copies of posts: in `users` with their author, and in `feed` if they are recent."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass

from shared.database.coalescer import Coalescer
from shared.database.container import BATCH_LIMIT, Container, patch_of
from shared.database.refusals import BatchRefused, ConditionFailed, ItemExists, ItemMissing
from shared.database.retries import COPY_ATTEMPTS
from shared.errors import NoProgress
from shared.models.base import Item
from shared.models.post import Post, short_form, version_of
from shared.propagation.change_feed import DATABASE_ERRORS

# The properties that change after creation. One patch can have ten operations.
_CHANGING = ("userUsername", "title", "content", "commentCount", "likeCount", "version", "editedDate")


def post_reads(posts: Container) -> Coalescer[None, str, Item | None]:
    """Return a coalescer that reads posts by id, concurrent ones in one query if that is cheaper."""

    async def read(_: None, ids: Sequence[str]) -> list[Item | None]:
        found = {post["id"]: post for post in await posts.read_many(sorted(set(ids)))}
        return [found.get(post_id) for post_id in ids]

    return Coalescer(read, limit=BATCH_LIMIT, shared_errors=DATABASE_ERRORS)


def copy_creations(container: Container) -> Coalescer[str, Item, bool]:
    """Return a coalescer that creates copies by partition key, and returns False for those that exist."""

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

    return Coalescer(create, limit=BATCH_LIMIT, shared_errors=DATABASE_ERRORS)


@dataclass(frozen=True)
class Copies:
    """The copies of posts in one container.

    `trigger` runs after each creation. `looks` and `creations` combine the reads and creations of a delivery.
    """

    container: Container
    posts: Container
    partition_key: str
    trigger: str | None = None
    looks: Coalescer[None, str, Item | None] | None = None
    creations: Coalescer[str, Item, bool] | None = None

    async def put(self, post: Item, *, present: bool = True) -> None:
        """Make the copy show `post`, unless it is newer: one write if `present` is right, otherwise two.

        A late delivery can create the copy of a post that has been deleted since. After a creation, the post is
        therefore read again. The same applies if the copy is already at this version: its creation may have failed
        before the read. Raises NoProgress.
        """
        copy = short_form(post)
        for _ in range(COPY_ATTEMPTS):
            if present:
                with suppress(ItemMissing):
                    if not await self._update(copy):
                        await self._check_against_post(copy)
                    return
            if await self._create(copy):
                await self._check_against_post(copy)
                return
            present = True
        raise NoProgress(f"the copy of post {post['id']} was created and deleted {COPY_ATTEMPTS} times")

    async def _update(self, copy: Item) -> bool:
        """Return False if the copy is already at this version or newer. Raises ItemMissing."""
        operations = patch_of({name: copy[name] for name in _CHANGING if name in copy})
        # Predicates take no parameters; `version` was checked to be a number. Posts without a version count as 0, and
        # one such state can replace another.
        older = f"FROM c WHERE NOT IS_DEFINED(c.version) OR c.version < {max(copy['version'], 1):d}"
        try:
            await self.container.patch(copy["id"], copy[self.partition_key], operations, predicate=older)
        except ConditionFailed:
            return False
        return True

    async def _create(self, copy: Item) -> bool:
        """Return False if a copy exists."""
        if self.creations is not None:
            return await self.creations.submit(copy[self.partition_key], copy)
        try:
            await self.container.create(copy, post_trigger=self.trigger)
        except ItemExists:
            return False
        return True

    async def _check_against_post(self, copy: Item) -> None:
        post_id = copy["id"]
        # By the primary: on a lagging replica, a new post is missing and a deleted one exists.
        post = await (self.looks.submit(None, post_id) if self.looks else self.posts.read_latest(post_id, post_id))
        if post is None or post["type"] != Post.TYPE:
            await self.remove(copy)
        elif version_of(post) > copy["version"]:
            await self.put(post)

    async def remove(self, post: Item) -> None:
        """Delete the copy, if there is one: one write. Accepts the post, its tombstone, or the copy."""
        key = Post.TYPE if self.partition_key == "type" else post[self.partition_key]
        with suppress(ItemMissing):
            await self.container.delete(post["id"], key)
