"""The length of `feed`: decides which posts belong to it, and restores exactly `FEED_LENGTH` of them."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from functools import partial

from shared.data.feed import FEED_LENGTH
from shared.database.container import BATCH_LIMIT, Container
from shared.database.refusals import BatchRefused, ConditionFailed, ItemMissing
from shared.errors import DatabaseUnavailable
from shared.models.base import Item
from shared.models.post import Post, short_form
from shared.propagation.change_feed import for_each
from shared.propagation.copies import Copies

# One trigger run deletes thousands of items, one batch a hundred.
_TRIM_LIMIT = 1_000

_NEWEST = (
    "SELECT c.id, c.creationDate FROM c WHERE c.type = @type"
    " ORDER BY c.type DESC, c.creationDate DESC, c.id DESC OFFSET 0 LIMIT @limit"
)
_CANDIDATES = (
    "SELECT * FROM c WHERE c.type = @type AND c.creationDate <= @date"
    " ORDER BY c.type DESC, c.creationDate DESC, c.id DESC OFFSET 0 LIMIT @limit"
)
_LAST_DATE = "9999"


@dataclass(frozen=True)
class FeedState:
    """The IDs and dates of the items in the feed, newest first."""

    entries: list[Item]

    @classmethod
    async def read(cls, feed: Container, *, surplus: int = 1) -> FeedState:
        """Read the feed and at most `surplus` items that no longer belong to it: one query in its one partition.

        The state is at least as new as this process's last write to the feed or `catch_up`.
        """
        limit = FEED_LENGTH + surplus
        parameters = {"type": Post.TYPE, "limit": limit}
        return cls(await feed.query(_NEWEST, parameters, partition_key=Post.TYPE, page_size=limit))

    def has(self, post: Item) -> bool:
        return any(entry["id"] == post["id"] for entry in self.entries)

    def add(self, post: Item) -> None:
        """Record that a copy was put into the feed."""
        if not self.has(post):
            self.entries.append({"id": post["id"], "creationDate": post["creationDate"]})
            self.entries.sort(key=lambda entry: (entry["creationDate"], entry["id"]), reverse=True)

    def discard(self, post: Item) -> None:
        """Record that a copy was removed from the feed."""
        self.entries[:] = [entry for entry in self.entries if entry["id"] != post["id"]]

    @property
    def surplus(self) -> list[str]:
        """The IDs that no longer belong to the feed, as far as they were read."""
        return [entry["id"] for entry in self.entries[FEED_LENGTH:]]

    @property
    def is_short(self) -> bool:
        return len(self.entries) < FEED_LENGTH

    def admits(self, copy: Item) -> bool:
        """Return whether the post is in the feed or belongs there."""
        if self.is_short or self.has(copy):
            return True
        last = self.entries[FEED_LENGTH - 1]
        return (copy["creationDate"], copy["id"]) > (last["creationDate"], last["id"])


async def refill(copies: Copies) -> bool:
    """Fill a short feed with the most recent posts that it lacks; return whether any were added.

    Call it after a deletion only, and trim the feed afterwards, because refills can be concurrent. Costs a query of the
    feed and, if it is short, one over all partitions of `posts`, up to the oldest date in the feed: the change feed
    delivers newer posts. Both are at least as new as the deletion. Posts without a valid short form are
    skipped; their own change was stored in `failures`.
    """
    await copies.container.catch_up(Post.TYPE)
    state = await FeedState.read(copies.container)
    if not state.is_short:
        return False
    await copies.posts.catch_up()
    oldest = state.entries[-1]["creationDate"] if state.entries else _LAST_DATE
    parameters = {"type": Post.TYPE, "date": oldest, "limit": FEED_LENGTH}
    candidates = [post async for post in copies.posts.query_across(_CANDIDATES, parameters, page_size=FEED_LENGTH)]
    missing = [post for post in candidates if not state.has(post) and _has_short_form(post)]
    missing = missing[: FEED_LENGTH - len(state.entries)]
    await for_each(missing, partial(copies.put, present=False))
    return bool(missing)


def _has_short_form(post: Item) -> bool:
    try:
        short_form(post)
    except (KeyError, TypeError, ValueError):
        return False
    return True


async def trim(copies: Copies, state: FeedState) -> None:
    """Delete the surplus of `state`: a batch and a query for each hundred items.

    If a post in the feed is deleted concurrently, a copy that was trimmed is needed after all. The feed is therefore
    read again after each batch, and refilled if it is short.
    """
    for _ in range(_TRIM_LIMIT):
        surplus = state.surplus[:BATCH_LIMIT]
        if not surplus:
            return
        with suppress(BatchRefused):  # another process deleted one of them
            await copies.container.batch(Post.TYPE, [("delete", (post_id,)) for post_id in surplus])
        state = await FeedState.read(copies.container, surplus=BATCH_LIMIT)
        if state.is_short and await refill(copies):
            state = await FeedState.read(copies.container, surplus=BATCH_LIMIT)
    raise DatabaseUnavailable(f"the feed was still too long after {_TRIM_LIMIT} batches")


async def trim_by_trigger(feed: Container, trigger: str) -> None:
    """Bring a feed that is too long back to its length, by writes that run the trigger."""
    for _ in range(_TRIM_LIMIT):
        state = await FeedState.read(feed)
        if not state.surplus:
            return
        newest = await feed.read(state.entries[0]["id"], Post.TYPE)
        if newest is not None:
            with suppress(ConditionFailed, ItemMissing):
                await feed.replace(newest, etag=newest["_etag"], post_trigger=trigger)
