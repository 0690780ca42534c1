"""Following a model's change feeds, as the Functions host does, in this process: what they cost can be counted here.

Each physical partition is read by itself, a page of up to a hundred changes at a time, as the project's triggers are
set; the batch is handed to the reaction, then the next page is read. What the host pays besides, one write of a lease
for each batch, is the same for every model and left out.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Final

from functions_host.cosmos_trigger.change_feed import FeedReader
from functions_host.cosmos_trigger.partitions import read_partitions

from bench.models.interface import ChangeFeed, Model
from bench.timing import BenchmarkError

PAGE_SIZE: Final = 100
_MOST_ROUNDS: Final = 50


@dataclass
class _Follower:
    """One physical partition of one feed, and how far it was followed."""

    feed: ChangeFeed
    reader: FeedReader
    continuation: str | None = None
    changes: int = 0

    async def follow(self) -> bool:
        """Read a page and react to it; False when there was nothing new."""
        page = await self.reader.read(self.continuation)
        if page.items:
            await self.feed.on_changed(page.items)
            self.changes += len(page.items)
        self.continuation = page.etag
        return page.is_new

    async def follow_to_end(self) -> bool:
        """False when there was nothing new at all."""
        found = False
        while await self.follow():
            found = True
        return found


class Following:
    """All change feeds of a model, from where `start` or the last call left them."""

    def __init__(self, followers: list[_Follower]) -> None:
        self._followers = followers

    @classmethod
    async def start(cls, model: Model, *, from_now: bool = False) -> Following:
        """Follow from the beginning, or `from_now`: then what was there is skipped without a reaction."""
        followers = []
        for feed in model.change_feeds:
            container = model.database.get_container_client(feed.container)
            for partition in await read_partitions(container):
                reader = FeedReader(container, partition.feed_range, "beginning", PAGE_SIZE)
                if from_now:
                    start = await FeedReader(container, partition.feed_range, "now", PAGE_SIZE).read(None)
                    followers.append(_Follower(feed, reader, start.etag))
                else:
                    followers.append(_Follower(feed, reader))
        return cls(followers)

    @property
    def changes(self) -> int:
        """How many changes were handed to reactions so far."""
        return sum(follower.changes for follower in self._followers)

    def of(self, container: str) -> Following:
        """The feed of one container alone."""
        return Following([follower for follower in self._followers if follower.feed.container == container])

    async def settle(self) -> None:
        """React until nothing changes any more. Raises BenchmarkError for reactions that go on for ever."""
        for _ in range(_MOST_ROUNDS):
            news = await asyncio.gather(*(follower.follow_to_end() for follower in self._followers))
            if not any(news):
                return
        raise BenchmarkError("the reactions to the change feeds go on writing")

    @asynccontextmanager
    async def running(self, poll_delay_s: float) -> AsyncIterator[None]:
        """Inside, each partition is followed all the time, with a pause where there was nothing new."""
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(_keep_following(follower, poll_delay_s)) for follower in self._followers]
            try:
                yield
            finally:
                for task in tasks:
                    task.cancel()


async def _keep_following(follower: _Follower, poll_delay_s: float) -> None:
    while True:
        if not await follower.follow():
            await asyncio.sleep(poll_delay_s)
