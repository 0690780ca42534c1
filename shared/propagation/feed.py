"""The feed as a whole: which posts belong to it, and how it is brought back to exactly its length."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass

from shared.cosmos import ConditionFailed, Container, ItemMissing
from shared.data.feed import FEED_LENGTH
from shared.models.base import Item
from shared.models.post import Post
from shared.propagation.batches import for_each
from shared.propagation.copies import Copies

TRIGGER = "truncateFeed"
# A run of the trigger cuts thousands of items; a feed that needs more runs than this is not of our making.
_MOST_CUTS = 100

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
    async def read(cls, feed: Container) -> FeedState:
        """One query inside the one partition."""
        limit = FEED_LENGTH + 1
        parameters = {"type": Post.TYPE, "limit": limit}
        return cls(await feed.query(_NEWEST, parameters, partition_key=Post.TYPE, page_size=limit))

    def has(self, post: Item) -> bool:
        return any(entry["id"] == post["id"] for entry in self.entries)

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


async def refill(feed: Container, posts: Container, copies: Copies) -> None:
    """Fill the feed up with the most recent posts that are not in it: nothing but the look at it where it is full.

    Only after a deletion: the query for the candidates reaches all of `posts`. It asks for no post newer than the
    oldest in the feed, for those are the posts feed's to bring, and no more than there is room for and could be in it.
    """
    state = await FeedState.read(feed)
    if not state.is_short:
        return
    oldest = state.entries[-1]["creationDate"] if state.entries else _AFTER_ALL
    parameters = {"type": Post.TYPE, "date": oldest, "limit": FEED_LENGTH}
    candidates = [post async for post in posts.query_across(_CANDIDATES, parameters, page_size=FEED_LENGTH)]
    missing = [post for post in candidates if not state.has(post)][: FEED_LENGTH - len(state.entries)]

    async def put(post: Item) -> None:
        await copies.put(post, present=False)

    await for_each(missing, put)


async def cut(feed: Container) -> None:
    """Bring a feed that is too long back to its length, through the trigger, in as many runs as that takes."""
    for _ in range(_MOST_CUTS):
        state = await FeedState.read(feed)
        if not state.is_too_long:
            return
        newest = await feed.read(state.entries[0]["id"], Post.TYPE)
        if newest is not None:
            with suppress(ConditionFailed, ItemMissing):
                await feed.replace(newest, etag=newest["_etag"], post_trigger=TRIGGER)
