"""Denormalized copies of posts: in `users` with their author, and in `feed` if they are on the front page.

The front page has exactly the `FRONT_PAGE_LENGTH` most recent posts. `FrontPageIndex` decides which posts belong there.
`refill` and `trim` restore the length.
"""

from __future__ import annotations

from contextlib import aclosing, suppress
from dataclasses import dataclass
from functools import partial

from shared.data.front_page import FRONT_PAGE_LENGTH
from shared.models.post import Post, short_form, version_of
from shared.platform.database.container import BATCH_LIMIT, Container, patch_of
from shared.platform.database.refusals import BatchRefused, ConditionFailed, ItemExists, ItemMissing
from shared.platform.deliveries.concurrency import for_each
from shared.platform.errors import NoProgress
from shared.platform.models import Item, is_item_id

# The properties that change after creation. One patch can have ten operations.
_CHANGING = ("userUsername", "title", "content", "commentCount", "likeCount", "version", "editedDate")
# Creations and deletions of one copy that overtake each other, before the change is stored in `failures`.
COPY_ATTEMPTS = 5

_NEWEST = (
    "SELECT c.id, c.creationDate FROM c WHERE c.type = @type"
    " ORDER BY c.type DESC, c.creationDate DESC, c.id DESC OFFSET 0 LIMIT @limit"
)
# The range leaves out damaged dates, which the SDK cannot compare if they are not strings.
_CANDIDATES = (
    "SELECT * FROM c WHERE c.type = @type AND c.creationDate < '9999'"
    " ORDER BY c.type DESC, c.creationDate DESC, c.id DESC OFFSET 0 LIMIT @limit"
)


@dataclass(frozen=True)
class Copies:
    """The copies of posts in one container, whose partition key is the property `partition_key` of a copy.

    `trigger` runs after each creation.
    """

    container: Container
    posts: Container
    partition_key: str
    trigger: str | None = None

    async def put(self, copy: Item, *, exists: bool = True) -> None:
        """`write` a copy and, if necessary, read its post and `check` it. Raises NoProgress."""
        if await self.write(copy, exists=exists):
            # By the primary: on a lagging replica, a new post is missing and a deleted one exists.
            await self.check(copy, await self.posts.read_latest(copy["id"], copy["id"]))

    async def write(self, copy: Item, *, exists: bool = True) -> bool:
        """Write the short form of a post, unless the copy is newer: one write if `exists` is correct, otherwise two.

        Return whether the copy must be checked. A late delivery can create the copy of a post that has been deleted
        since. The same applies if the copy is already at this version: its creation may have failed before the check.
        Raises NoProgress.
        """
        for _ in range(COPY_ATTEMPTS):
            if exists:
                with suppress(ItemMissing):
                    return await self._update(copy)
            with suppress(ItemExists):
                await self.container.create(copy, post_trigger=self.trigger)
                return True
            exists = True
        raise NoProgress(f"the copy of post {copy['id']} was created and deleted {COPY_ATTEMPTS} times")

    async def check(self, copy: Item, post: Item | None) -> None:
        """Remove or update a copy that was written before `post` was read, if the post is deleted or newer."""
        if post is None or post.get("type") != Post.TYPE:
            await self.remove(copy)
        elif version_of(post) > copy["version"]:
            await self.put(short_form(post))

    async def _update(self, copy: Item) -> bool:
        """Update the copy. Return True if it was already at this version or newer. Raises ItemMissing."""
        operations = patch_of({name: copy[name] for name in _CHANGING if name in copy})
        # Predicates take no parameters; `version` was checked to be a number. Posts without a version count as 0, and
        # one such state can replace another.
        older = f"FROM c WHERE NOT IS_DEFINED(c.version) OR c.version < {max(copy['version'], 1):d}"
        try:
            await self.container.patch(copy["id"], copy[self.partition_key], operations, predicate=older)
        except ConditionFailed:
            return True
        return False

    async def remove(self, post: Item) -> None:
        """Delete the copy, if there is one: one write. Accepts the post, its tombstone, or the copy."""
        key = Post.TYPE if self.partition_key == "type" else post[self.partition_key]
        with suppress(ItemMissing):
            await self.container.delete(post["id"], key)


@dataclass
class FrontPageIndex:
    """The creation date of each copy in `feed`, by ID."""

    dates: dict[str, str]

    @classmethod
    async def read(cls, feed: Container, *, surplus: int = 1) -> FrontPageIndex:
        """Read the front page and at most `surplus` copies that no longer belong there: one query in one partition.

        The result is at least as new as this process's last write to `feed` or `catch_up`.
        """
        limit = FRONT_PAGE_LENGTH + surplus
        parameters = {"type": Post.TYPE, "limit": limit}
        rows = await feed.query(_NEWEST, parameters, partition_key=Post.TYPE, page_size=limit)
        return cls({row["id"]: str(row.get("creationDate")) for row in rows})  # a damaged copy can have any date

    def has(self, post: Item) -> bool:
        return post["id"] in self.dates

    @property
    def is_short(self) -> bool:
        return len(self.dates) < FRONT_PAGE_LENGTH

    @property
    def surplus(self) -> list[str]:
        """The IDs that no longer belong to the front page, as far as they were read."""
        return [post_id for _, post_id in self._newest()[FRONT_PAGE_LENGTH:]]

    def admits(self, copy: Item) -> bool:
        """Return whether the post is on the front page or belongs there. Accepts its tombstone, too."""
        place = (str(copy.get("creationDate")), copy["id"])
        return self.is_short or self.has(copy) or place > self._newest()[FRONT_PAGE_LENGTH - 1]

    def _newest(self) -> list[tuple[str, str]]:
        return sorted(((date, post_id) for post_id, date in self.dates.items()), reverse=True)


async def refill(copies: Copies, removed: Item) -> bool:
    """Add the most recent posts that the front page lacks after a copy was removed; return whether there were any.

    While the front page is short, another delivery can admit an older post. A full front page is therefore also
    refilled if `removed` would belong to it, and `trim`, which must follow, deletes the older posts. Costs a query of
    `feed` and, for a refill, one over all partitions of `posts`. Both are at least as new as the removal. Posts without
    a valid short form are skipped; their own change was stored in `failures`.
    """
    await copies.container.catch_up(Post.TYPE)
    index = await FrontPageIndex.read(copies.container)
    if not index.admits(removed):
        return False
    await copies.posts.catch_up()
    parameters = {"type": Post.TYPE, "limit": 2 * FRONT_PAGE_LENGTH}  # the second half replaces skipped posts
    missing, listed = list[Item](), 0
    async with aclosing(copies.posts.query_across(_CANDIDATES, parameters, page_size=FRONT_PAGE_LENGTH)) as newest:
        async for post in newest:
            if index.has(post):
                listed += 1
            elif copy := _copy_of(post):
                missing.append(copy)
            if listed + len(missing) == FRONT_PAGE_LENGTH:
                break
    await for_each(missing, partial(copies.put, exists=False))
    return bool(missing)


def _copy_of(post: Item) -> Item | None:
    with suppress(KeyError, TypeError, ValueError):
        if post.get("postId") == post["id"] and is_item_id(post["id"]):
            return short_form(post)
    return None


async def trim(copies: Copies, index: FrontPageIndex) -> None:
    """Delete the surplus of `index`: a batch and a query for each hundred copies.

    If a post on the front page is deleted concurrently, a copy that was trimmed is needed after all. The front page is
    therefore read again after each batch, and refilled if the newest copy of the batch belongs to it.
    """
    while surplus := index.surplus[:BATCH_LIMIT]:
        removed = {"id": surplus[0], "creationDate": index.dates[surplus[0]]}
        with suppress(BatchRefused):  # another process deleted one of them
            await copies.container.batch(Post.TYPE, [("delete", (post_id,)) for post_id in surplus])
        index = await FrontPageIndex.read(copies.container, surplus=BATCH_LIMIT)
        if index.admits(removed) and await refill(copies, removed):
            index = await FrontPageIndex.read(copies.container, surplus=BATCH_LIMIT)
