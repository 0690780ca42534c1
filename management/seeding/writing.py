"""A plan into the database, exactly as the app and its change-feed functions would have left it.

The order of the writes, and why functions that follow the change feed meanwhile do no harm and have nothing to do:

1. For each user the reservation of the name, confirmed; nobody can take the name between this and the next.
2. The user together with the short copies of all his posts: one transaction. The copies come before the posts, for a
   post that is not there yet can be neither changed nor deleted, so that no copy is out of date when it is written. The
   users feed shows the user and finds his reservation confirmed.
3. Each post together with its comments and likes: one transaction, so that its counts are never seen wrong. The posts
   feed shows the post, finds the copy of this very version and leaves it. A user renamed meanwhile is found by the
   names on his posts, which the posts feed sets right as it does after any race.
4. The 100 most recent into the feed by the app's own way of putting them there, which checks each against its post; the
   posts feed may have put them already. Then the feed is cut to its length once.

What takes more than one transaction (100 operations) is written with the item that makes it visible, the user or the
post, last. A seed that is cut off leaves copies without their posts, which `rebuild` removes, or which get their posts
when the same seed is run again: what is there already is left as it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

from management.account import Blog
from management.errors import ManagementError
from management.newest import Newest
from management.seeding.plan import SeedPlan
from shared.cosmos import BatchRefused, Container, ItemExists
from shared.data.feed import FEED_LENGTH
from shared.data.username_reservations import reservation_id, reservation_item
from shared.models.base import Item
from shared.models.post import short_form
from shared.models.user import name_version
from shared.propagation.change_feed import for_each
from shared.propagation.copies import Copies
from shared.propagation.feed import FeedState, trim

# https://learn.microsoft.com/azure/cosmos-db/concepts-limits#transactional-batch-operations
_BATCH = 100
# One of so many users is the first to be written, at any concurrency up to this.
_FIRST_USERS = 100


class Progress(Protocol):
    """Told of each user and each post that is written."""

    def users_written(self, posts: int) -> None:
        """One user, who has so many posts to be written later."""

    def posts_written(self, responses: int) -> None:
        """One post, with so many comments and likes."""


async def is_empty(blog: Blog) -> bool:
    """Whether `users` has no item at all: one page of one row."""
    async for _ in blog.users.query_across("SELECT VALUE c.id FROM c", {}, page_size=1):
        return False
    return True


async def is_unfinished(blog: Blog, plan: SeedPlan) -> bool:
    """Whether this very plan was begun and cut off: the feed, which is written last, is still empty, and one of the
    names, which are reserved first, is reserved for its user. A query, and point reads where there is no feed."""
    if (await FeedState.read(blog.feed)).entries:
        return False
    for index in range(min(plan.users, _FIRST_USERS)):
        user = plan.user(index)
        key = reservation_id(user["username"])
        reservation = await blog.users.read(key, key)
        if reservation is not None and reservation["ownerId"] == user["id"]:
            return True
    return False


async def seed(blog: Blog, plan: SeedPlan, progress: Progress, *, concurrency: int) -> None:
    """Write the whole plan, `concurrency` users or posts at a time. Raises DatabaseUnavailable, ManagementError."""
    await _Seeding(blog, plan, progress, concurrency).run()


@dataclass
class _Seeding:
    """What it holds: the names of the users whose planned name was taken, and the feed's candidates."""

    blog: Blog
    plan: SeedPlan
    progress: Progress
    concurrency: int
    names: dict[int, str] = field(default_factory=dict)
    newest: Newest[Item] = field(default_factory=lambda: Newest(FEED_LENGTH))

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
        await _write_together(self.blog.users, user["id"], copies, user)
        self.progress.users_written(len(copies))

    async def _take_name(self, index: int) -> str:
        """The user's name, reserved: the planned one, or with something added to it where that is someone else's."""
        user, users = self.plan.user(index), self.blog.users
        planned: str = user["username"]
        present = await users.read(user["id"], user["id"])
        if (
            present is not None
        ):  # from an earlier run; he may have been renamed since, which is the users feed's to carry
            return str(present["username"]) if name_version(present) == 0 else planned
        for name in (planned, f"{planned}-{user['id'][:8]}"):
            if await self._reserve(reservation_item(name, user["id"], 0, confirmed=True)):
                return name
        raise ManagementError(f"The username {name!r} is taken; choose another --seed.")

    async def _reserve(self, reservation: Item) -> bool:
        users, key = self.blog.users, reservation["id"]
        try:
            await users.create(reservation)
        except ItemExists:
            held = await users.read(key, key)
            return held is not None and held["ownerId"] == reservation["ownerId"]
        return True

    async def _write_post(self, numbered: tuple[int, Item]) -> None:
        _, post = numbered
        responses = []
        for index, response in self.plan.responses(post):
            name = self.names.get(index, response["userUsername"])
            responses.append(response | {"userUsername": name})
        await _write_together(self.blog.posts, post["id"], responses, post)
        self.progress.posts_written(len(responses))

    async def _write_feed(self) -> None:
        state = await FeedState.read(self.blog.feed)
        copies = Copies(self.blog.feed, self.blog.posts, partition_key="type")

        async def put(post: Item) -> None:
            await copies.put(post, present=state.has(post))

        await for_each([post for post in self.newest.values() if state.admits(post)], put, concurrency=self.concurrency)
        await trim(self.blog.feed, self.blog.posts, copies, await FeedState.read(self.blog.feed))


async def _write_together(container: Container, key: str, parts: Sequence[Item], whole: Item) -> None:
    """Create the items of one logical partition, `whole` in the last transaction. Does nothing where it is there."""
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
        if not isinstance(refused.reason, ItemExists):  # all of it, from an earlier run of the same plan
            raise
