"""What the change feeds do after a number of commands, and what that costs in each container.

The commands' changes are read from the feeds of all physical partitions and handed to the reaction as one batch, as a
physical partition that took all of the commands would have had them; then the changes of `users` that this brings are
read and handled in the same way. Reading costs what the items cost, whether they come on one page or several; pages
with nothing new are counted by themselves, for they follow from the polling and not from the commands.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from azure.cosmos.aio import ContainerProxy
from functions_host.cosmos_trigger.change_feed import FeedReader
from functions_host.cosmos_trigger.partitions import read_partitions

from bench.capacity.charges import Charges
from management.account import Blog
from shared.models.base import Item
from shared.propagation.posts import PostChangeHandler
from shared.propagation.users import UserChangeHandler

PAGE_SIZE = 100


@dataclass(frozen=True)
class BatchCost:
    """Of a batch with the changes of n commands: `fixed` + n times `each`."""

    fixed: Charges
    each: Charges

    @classmethod
    def through(cls, few: tuple[int, Charges], many: tuple[int, Charges]) -> BatchCost:
        """The line through two measurements, each a number of commands and what their batch cost."""
        each = (many[1] - few[1]) * (1 / (many[0] - few[0]))
        return cls(few[1] - each * few[0], each)

    def of(self, commands: float) -> Charges:
        """A batch of so many."""
        return self.fixed + self.each * commands


class _Feed:
    """One container's change feed, from now on."""

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
        """What has changed since the last call."""
        found: list[Item] = []
        for number, (reader, etag) in enumerate(self._readers):
            page = await reader.read(etag)
            while page.is_new:
                found += page.items
                page = await reader.read(page.etag)
            self._readers[number] = (reader, page.etag)
        return found


class Aftermath:
    """The reactions of a blog, to be run until nothing is new."""

    def __init__(self, blog: Blog, posts: _Feed, users: _Feed) -> None:
        self._posts, self._users = posts, users
        self._posts_reaction = PostChangeHandler(blog.users, blog.posts, blog.feed, blog.failures)
        self._users_reaction = UserChangeHandler(blog.users, blog.posts, blog.failures)

    @classmethod
    async def from_now(cls, blog: Blog) -> Aftermath:
        """Of what changes from now on."""
        return cls(blog, await _Feed.from_now(blog.posts.proxy), await _Feed.from_now(blog.users.proxy))

    async def follow(self) -> int:
        """React until nothing changes any more. How many changes there were."""
        changes = 0
        while True:
            posts = await self._posts.news()
            if posts:
                await self._posts_reaction.on_changed(posts)
            users = await self._users.news()
            if users:
                await self._users_reaction.on_changed(users)
            if not posts and not users:
                return changes
            changes += len(posts) + len(users)
