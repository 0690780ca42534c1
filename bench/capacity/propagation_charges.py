"""Run the change-feed functions after a number of commands and measure their charge in each container.

The changes of all commands form one batch, as if from one physical partition, and so do the changes of `users` that
follow. Reads without changes are counted separately, because they depend on polling.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from azure.cosmos.aio import ContainerProxy
from functions_host.cosmos_trigger.change_feed import FeedReader
from functions_host.cosmos_trigger.partitions import read_partitions

from bench.capacity.charges import Charges
from shared.data.blog import Blog
from shared.models.base import Item
from shared.propagation.posts import PostChangeHandler
from shared.propagation.users import UserChangeHandler

PAGE_SIZE = 100


@dataclass(frozen=True)
class BatchCost:
    """Charge of a batch with the changes of n commands: `fixed` + n × `each`."""

    fixed: Charges
    each: Charges

    @classmethod
    def through(cls, few: tuple[int, Charges], many: tuple[int, Charges]) -> BatchCost:
        """Fit a line through two measurements (number of commands, charge)."""
        each = (many[1] - few[1]) * (1 / (many[0] - few[0]))
        return cls(few[1] - each * few[0], each)

    def of(self, commands: float) -> Charges:
        """Return the charge of a batch of this many commands."""
        return self.fixed + self.each * commands


class _Feed:
    def __init__(self, readers: Sequence[tuple[FeedReader, str]]) -> None:
        self._readers = list(readers)

    @classmethod
    async def from_now(cls, container: ContainerProxy) -> _Feed:
        started = []
        for partition in await read_partitions(container):
            now = await FeedReader(container, partition.feed_range, "now", PAGE_SIZE).read(None)
            started.append((FeedReader(container, partition.feed_range, "beginning", PAGE_SIZE), now.etag))
        return cls(started)

    async def news(self) -> list[Item]:
        found: list[Item] = []
        for number, (reader, etag) in enumerate(self._readers):
            page = await reader.read(etag)
            while page.is_new:
                found += page.items
                page = await reader.read(page.etag)
            self._readers[number] = (reader, page.etag)
        return found


class PropagationRun:
    """Runs a blog's change-feed functions until there are no more changes."""

    def __init__(self, blog: Blog, posts: _Feed, users: _Feed) -> None:
        self._posts, self._users = posts, users
        self._on_posts = PostChangeHandler(blog)
        self._on_users = UserChangeHandler(blog)

    @classmethod
    async def from_now(cls, blog: Blog) -> PropagationRun:
        """Start with changes from now on."""
        return cls(blog, await _Feed.from_now(blog.posts.proxy), await _Feed.from_now(blog.users.proxy))

    async def follow(self) -> int:
        """Handle changes until there are no more; return their number."""
        changes = 0
        while True:
            posts = await self._posts.news()
            if posts:
                await self._on_posts.on_changed(posts)
            users = await self._users.news()
            if users:
                await self._on_users.on_changed(users)
            if not posts and not users:
                return changes
            changes += len(posts) + len(users)
