"""Follow a model's change feeds in this process, like the Functions host, to measure the cost.

Each physical partition is read in pages of up to 100 changes, like this project's triggers. Lease writes, one per
delivery for every model, are omitted.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Final

from functions_host.cosmos_trigger.change_feed import FeedReader
from functions_host.cosmos_trigger.partitions import read_partitions

from bench.models.interface import Model, ModelFeed
from bench.timing import BenchmarkError
from shared.platform.models import Item

PAGE_SIZE: Final = 100
_MOST_ROUNDS: Final = 50


@dataclass
class _Follower:
    feed: ModelFeed
    reader: FeedReader
    continuation: str | None = None

    async def follow(self) -> bool:
        """Read and handle a page; return False if it was empty."""
        page = await self.reader.read(self.continuation)
        if page.items:
            await self.feed.on_changed(page.items)
        self.continuation = page.etag
        return page.is_new

    async def news(self) -> list[Item]:
        """Read all pages, without handling them."""
        found: list[Item] = []
        page = await self.reader.read(self.continuation)
        while page.is_new:
            found += page.items
            page = await self.reader.read(page.etag)
        self.continuation = page.etag
        return found

    async def follow_to_end(self) -> bool:
        """Return False if there were no changes."""
        found = False
        while await self.follow():
            found = True
        return found


class ChangeFeedFollower:
    def __init__(self, followers: list[_Follower]) -> None:
        self._followers = followers

    @classmethod
    async def start(cls, model: Model, *, from_now: bool = False) -> ChangeFeedFollower:
        """Start from the beginning, or with changes from now on."""
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

    def of(self, container: str) -> ChangeFeedFollower:
        """Select one container's change feed."""
        return ChangeFeedFollower([follower for follower in self._followers if follower.feed.container == container])

    async def settle(self, *, together: bool = False) -> None:
        """Follow until nothing changes. Raises BenchmarkError if that never happens.

        If `together`, all changes of a container are handled as one delivery, as if it had one partition.
        """
        for _ in range(_MOST_ROUNDS):
            if not await (self._follow_together() if together else self._follow_each()):
                return
        raise BenchmarkError("the change-feed functions keep writing")

    async def _follow_each(self) -> bool:
        return any(await asyncio.gather(*(follower.follow_to_end() for follower in self._followers)))

    async def _follow_together(self) -> bool:
        news: dict[str, list[Item]] = {}
        for follower in self._followers:
            news.setdefault(follower.feed.container, []).extend(await follower.news())
        for feed in {follower.feed.container: follower.feed for follower in self._followers}.values():
            if news[feed.container]:
                await feed.on_changed(news[feed.container])
        return any(news.values())

    @asynccontextmanager
    async def running(self, poll_delay_s: float) -> AsyncIterator[None]:
        """Follow all partitions during the block, pausing when there are no changes."""
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
