"""The feed as a whole: which posts belong to it, and how it is brought back to exactly its length."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass

from shared.cosmos import BATCH_LIMIT, BatchRefused, ConditionFailed, Container, ItemMissing
from shared.data.feed import FEED_LENGTH
from shared.errors import DatabaseUnavailable
from shared.models.base import Item
from shared.models.post import Post, short_form
from shared.propagation.batches import for_each
from shared.propagation.copies import Copies

# A run of the trigger cuts thousands of items, a batch a hundred: a feed that needs more is not of our making.
_MOST_CUTS = 1_000

_NEWEST = (
    "SELECT c.id, c.creationDate FROM c WHERE c.type = @type"
    " ORDER BY c.creationDate DESC, c.id DESC OFFSET 0 LIMIT @limit"
)
_CANDIDATES = (
    "SELECT * FROM c WHERE c.type = @type AND c.creationDate <= @date"
    " ORDER BY c.creationDate DESC, c.id DESC OFFSET 0 LIMIT @limit"
)
_AFTER_ALL = "9999"


@dataclass(frozen=True)
class FeedState:
    """The ids and dates of the feed's items, newest first, one more than belong to it where there are more."""

    entries: list[Item]

    @classmethod
    async def read(cls, feed: Container, *, surplus: int = 1) -> FeedState:
        """One query inside the one partition, of so many more than belong to the feed."""
        limit = FEED_LENGTH + surplus
        parameters = {"type": Post.TYPE, "limit": limit}
        return cls(await feed.query(_NEWEST, parameters, partition_key=Post.TYPE, page_size=limit))

    def has(self, post: Item) -> bool:
        return any(entry["id"] == post["id"] for entry in self.entries)

    def add(self, post: Item) -> None:
        """Know of a copy that was put into the feed."""
        if not self.has(post):
            self.entries.append({"id": post["id"], "creationDate": post["creationDate"]})
            self.entries.sort(key=lambda entry: (entry["creationDate"], entry["id"]), reverse=True)

    def discard(self, post: Item) -> None:
        """Know of a copy that was taken out of the feed."""
        self.entries[:] = [entry for entry in self.entries if entry["id"] != post["id"]]

    @property
    def surplus(self) -> list[str]:
        """The ids of those that do not belong to the feed, as far as they were read."""
        return [entry["id"] for entry in self.entries[FEED_LENGTH:]]

    def admits(self, post: Item) -> bool:
        """Whether the post, in short form, is in the feed or belongs to the most recent."""
        if len(self.entries) < FEED_LENGTH or self.has(post):
            return True
        last = self.entries[FEED_LENGTH - 1]
        return (post["creationDate"], post["id"]) > (last["creationDate"], last["id"])

    @property
    def is_short(self) -> bool:
        return len(self.entries) < FEED_LENGTH

    @property
    def is_too_long(self) -> bool:
        return len(self.entries) > FEED_LENGTH


async def refill(feed: Container, posts: Container, copies: Copies) -> bool:
    """Fill the feed up with the most recent posts that are not in it: nothing but the look at it where it is full.
    Whether any were put in: then it may be too long, for others may have filled it at the same time.

    Only after a deletion: the query for the candidates reaches all of `posts`. It asks for no post newer than the
    oldest in the feed, for those are the posts feed's to bring, and no more than there is room for and could be in it.
    One that cannot be copied is left out: its own change has been kept as a failure, and it must not be in the way of
    the others.
    """
    state = await FeedState.read(feed)
    if not state.is_short:
        return False
    oldest = state.entries[-1]["creationDate"] if state.entries else _AFTER_ALL
    parameters = {"type": Post.TYPE, "date": oldest, "limit": FEED_LENGTH}
    candidates = [post async for post in posts.query_across(_CANDIDATES, parameters, page_size=FEED_LENGTH)]
    missing = [post for post in candidates if not state.has(post) and _has_short_form(post)]

    async def put(post: Item) -> None:
        await copies.put(post, present=False)

    missing = missing[: FEED_LENGTH - len(state.entries)]
    await for_each(missing, put)
    return bool(missing)


def _has_short_form(post: Item) -> bool:
    try:
        short_form(post)
    except (KeyError, TypeError, ValueError):
        return False
    return True


async def trim(feed: Container, posts: Container, copies: Copies, state: FeedState) -> None:
    """Bring a feed that is too long back to its length: nothing where it is not, else a batch of deletions for each
    hundred, and a query after each.

    What was surplus when it was looked at may be needed when it is deleted, for a post in the feed may have been
    deleted in between. So after a deletion the feed is filled up where it is short; whoever deletes looks afterwards,
    so the last one sees what all have done.
    """
    for _ in range(_MOST_CUTS):
        surplus = state.surplus[:BATCH_LIMIT]
        if not surplus:
            return
        with suppress(BatchRefused):  # another process has deleted one of them
            await feed.batch(Post.TYPE, [("delete", (post_id,)) for post_id in surplus])
        state = await FeedState.read(feed, surplus=BATCH_LIMIT)
        if state.is_short and await refill(feed, posts, copies):
            state = await FeedState.read(feed, surplus=BATCH_LIMIT)
    raise DatabaseUnavailable("the feed was found too long again and again")


async def cut(feed: Container, trigger: str) -> None:
    """Bring a feed that is too long back to its length, through the trigger, in as many runs as that takes."""
    for _ in range(_MOST_CUTS):
        state = await FeedState.read(feed)
        if not state.is_too_long:
            return
        newest = await feed.read(state.entries[0]["id"], Post.TYPE)
        if newest is not None:
            with suppress(ConditionFailed, ItemMissing):
                await feed.replace(newest, etag=newest["_etag"], post_trigger=trigger)
