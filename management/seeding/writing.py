"""Write a plan to the database as the app and its change-feed functions would have left it.

The order of writes leaves concurrent change-feed functions nothing to do:
1. Each user's username reservation.
2. The user and the copies of their posts, in one transaction. These copies cannot be stale: the posts do not exist yet.
3. Each post with its comments and likes, in one transaction. The posts function finds this version's copy and skips it.
   If the user is renamed during the seed, the function fixes the usernames.
4. The 100 newest posts, written to the feed as the app does. Then the feed is truncated.

If a transaction would exceed 100 operations, it is split, and the user or post comes last. An interrupted seed leaves
copies without posts. Repeat it to add those posts, or `rebuild` to delete the copies. A seed that is repeated after
`rebuild` adds the copies again, after their posts.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol, Self, TypeVar

from management.errors import ManagementError
from management.newest import Newest
from shared.data.blog import Blog
from shared.data.posts import FRONT_PAGE_LENGTH
from shared.data.username_reservations import reservation_id, reservation_item
from shared.models.post import Post, short_form
from shared.models.user import name_version
from shared.platform.database.container import Container
from shared.platform.database.refusals import BatchRefused, ItemExists
from shared.platform.deliveries.concurrency import for_each
from shared.platform.models import Item, parse_moment
from shared.propagation.copies import Copies, FrontPageIndex, trim

# https://learn.microsoft.com/azure/cosmos-db/concepts-limits#transactional-batch-operations
_BATCH = 100
# Up to this concurrency, one of the first 100 users is written first.
_FIRST_USERS = 100


class Plan(Protocol):
    """A blog to write: its items, by the index of their user, and when it is generated."""

    @property
    def users(self) -> int:
        """The number of users."""

    @property
    def now(self) -> datetime:
        """When the blog is generated."""

    def dated(self, now: datetime) -> Self:
        """The same blog, generated at another time."""

    def user(self, index: int) -> Item:
        """A user."""

    def posts(self, index: int, author: Item) -> Iterator[Item]:
        """The posts of a user, who is `author`."""

    def responses(self, author: int, post: Item) -> Iterator[tuple[int, Item]]:
        """The comments and likes of a post by user `author`, each with its user's index."""


PlanT = TypeVar("PlanT", bound=Plan)


class Progress(Protocol):
    """Counts what has been written."""

    def users_written(self, posts: int) -> None:
        """Record a user and the number of their posts, written later."""

    def posts_written(self, responses: int) -> None:
        """Record a post and its number of comments and likes."""


async def is_empty(blog: Blog) -> bool:
    """Costs one query for one row."""
    async for _ in blog.users.query_across("SELECT VALUE c.id FROM c", {}, page_size=1):
        return False
    return True


async def is_unfinished(blog: Blog, plan: Plan) -> bool:
    """Return whether this plan was interrupted: its names are reserved, but the feed, written last, is empty.

    Costs one query, plus point reads if the feed is empty.
    """
    if (await FrontPageIndex.read(blog.feed)).dates:
        return False
    for index in range(min(plan.users, _FIRST_USERS)):
        user = plan.user(index)
        key = reservation_id(user["username"])
        reservation = await blog.users.read(key, key)
        if reservation is not None and reservation["ownerId"] == user["id"]:
            return True
    return False


async def with_dates_of_earlier_run(blog: Blog, plan: PlanT) -> PlanT:
    """The plan with the `now` of an earlier run that was interrupted or finished, so that its items and copies agree.

    Costs up to 200 point reads: of the item that a run writes first for each of the users that it writes first, and of
    the user, because `rebuild` can have deleted the item.
    """
    for index in range(min(plan.users, _FIRST_USERS)):
        user = plan.user(index)
        for planned in (next(plan.posts(index, user), user), user):
            present = await blog.users.read(planned["id"], user["id"])
            if present is not None:
                shift = parse_moment(present["creationDate"]) - parse_moment(planned["creationDate"])
                return plan.dated(plan.now + shift)
    return plan


async def seed(blog: Blog, plan: Plan, progress: Progress, *, concurrency: int) -> None:
    """Write the plan, `concurrency` users or posts at a time. Raises DatabaseUnavailable, ManagementError."""
    await _Seeding(blog, plan, progress, concurrency).run()


@dataclass
class _Seeding:
    blog: Blog
    plan: Plan
    progress: Progress
    concurrency: int
    names: dict[int, str] = field(default_factory=dict)
    from_earlier_run: set[int] = field(default_factory=set)
    newest: Newest[Item] = field(default_factory=lambda: Newest(FRONT_PAGE_LENGTH))

    async def run(self) -> None:
        await for_each(range(self.plan.users), self._write_user, concurrency=self.concurrency)
        posts = ((index, post) for index in range(self.plan.users) for post in self._posts(index))
        await for_each(posts, self._write_post, concurrency=self.concurrency)
        await self._write_feed()

    def _author(self, index: int) -> Item:
        user = self.plan.user(index)
        return user | {"username": self.names.get(index, user["username"])}

    def _posts(self, index: int) -> list[Item]:
        return list(self.plan.posts(index, self._author(index)))

    async def _write_user(self, index: int) -> None:
        name = await self._take_name(index)
        if name != self.plan.user(index)["username"]:
            self.names[index] = name
        user, copies = self._author(index), [short_form(post) for post in self._posts(index)]
        for copy in copies:
            self.newest.offer((copy["creationDate"], copy["id"]), copy)
        await _create_all(self.blog.users, user["id"], copies, user)
        self.progress.users_written(len(copies))

    async def _take_name(self, index: int) -> str:
        """Reserve the planned username, or a variant if it is taken."""
        user, users = self.plan.user(index), self.blog.users
        planned: str = user["username"]
        present = await users.read(user["id"], user["id"])
        if present is not None:
            self.from_earlier_run.add(index)
            # If the user was renamed, the users function updates the copies.
            return str(present["username"]) if name_version(present) == 0 else planned
        for name in (planned, f"{planned}-{user['id'][:8]}"):
            if await self._reserve(reservation_item(name, user["id"], 0)):
                return name
        raise ManagementError(f"Username {name!r} is taken. Choose another --seed.")

    async def _reserve(self, reservation: Item) -> bool:
        users, key = self.blog.users, reservation["id"]
        try:
            await users.create(reservation)
        except ItemExists:
            held = await users.read(key, key)
            return held is not None and held["ownerId"] == reservation["ownerId"]
        return True

    async def _write_post(self, numbered: tuple[int, Item]) -> None:
        author, post = numbered
        responses = []
        for index, response in self.plan.responses(author, post):
            name = self.names.get(index, response["userUsername"])
            responses.append(response | {"userUsername": name})
        await _create_all(self.blog.posts, post["id"], responses, post)
        if author in self.from_earlier_run:
            await self._restore_copy(post)
        self.progress.posts_written(len(responses))

    async def _restore_copy(self, planned: Item) -> None:
        """Create a copy that `rebuild` deleted because its post did not exist yet. Costs a point read if it exists."""
        if await self.blog.users.read(planned["id"], planned["userId"]) is None:
            post = await self.blog.posts.read(planned["id"], planned["id"])
            if post is not None and post["type"] == Post.TYPE:  # or else it has been deleted since
                await Copies(self.blog.users, self.blog.posts, partition_key="userId").put(
                    short_form(post), exists=False
                )

    async def _write_feed(self) -> None:
        index = await FrontPageIndex.read(self.blog.feed)
        copies = Copies(self.blog.feed, self.blog.posts, partition_key="type")

        async def put(copy: Item) -> None:
            await copies.put(copy, exists=index.has(copy))

        await for_each([copy for copy in self.newest.values() if index.admits(copy)], put, concurrency=self.concurrency)
        await trim(copies, await FrontPageIndex.read(self.blog.feed))


async def _create_all(container: Container, key: str, parts: Sequence[Item], whole: Item) -> None:
    """Create one logical partition's items, `whole` last, unless `whole` exists."""
    items = [*parts, whole]
    batches = [items[start : start + _BATCH] for start in range(0, len(items), _BATCH)]
    if len(batches) > 1 and await container.read(whole["id"], key) is not None:
        return
    for batch in batches:
        await _create(container, key, batch)


async def _create(container: Container, key: str, batch: Sequence[Item]) -> None:
    try:
        await container.batch(key, [("create", (item,)) for item in batch])
    except BatchRefused as refused:
        if not isinstance(refused.reason, ItemExists):  # from an earlier run
            raise
