"""Write a made-up blog: the sample, or a larger one of `bench.seed`.

Users come first, then each post with its comments and likes, then the copies of the posts, as the change-feed function
writes them. What exists stays as it is, so an interrupted run can be repeated, and the app can run meanwhile.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from typing import Protocol

from management.errors import ManagementError
from management.seeding.sample import Sample
from management.terminal import counted
from shared.data.blog import Blog
from shared.data.username_reservations import reservation_id, reserve
from shared.errors import UsernameTaken
from shared.models.post import Post
from shared.models.user import User, author_properties
from shared.platform.database.container import BATCH_LIMIT, Container
from shared.platform.database.refusals import BatchRefused, ItemExists
from shared.platform.deliveries.concurrency import for_each
from shared.platform.models import Item
from shared.propagation.copies import FrontPageIndex
from shared.propagation.posts import handle_changed_posts

_POSTS_AT_ONCE = 100
_OTHERS = "SELECT VALUE c.id FROM c WHERE NOT ARRAY_CONTAINS(@keys, c.userId)"


class Plan(Protocol):
    """The items of a blog, by the index of their user."""

    @property
    def users(self) -> int:
        """The number of users."""

    def user(self, index: int) -> Item:
        """A user."""

    def posts(self, index: int, author: Item) -> Iterator[Item]:
        """The posts of a user, who is `author`."""

    def responses(self, author: int, post: Item) -> Iterator[tuple[int, Item]]:
        """The comments and likes of a post by user `author`, each with its user's index."""


@dataclass
class Seeded:
    """The numbers of items."""

    users: int = 0
    posts: int = 0
    responses: int = 0

    def __str__(self) -> str:
        written = (counted(self.users, "user"), counted(self.posts, "post"), f"{self.responses:,} comments and likes")
        return ", ".join(written)


async def has_others(blog: Blog) -> bool:
    """Return whether there are posts on the front page, or users who are not in the sample. Costs two queries."""
    if (await FrontPageIndex.read(blog.feed)).dates:
        return True
    sample = Sample()
    users = [sample.user(index) for index in range(sample.users)]
    keys = [key for user in users for key in (user["id"], reservation_id(user["username"]))]
    async for _ in blog.users.query_across(_OTHERS, {"keys": keys}, page_size=1):
        return True
    return False


async def seed(blog: Blog, plan: Plan) -> Seeded:
    """Write the plan, and return the number of its items. Raises DatabaseUnavailable, ManagementError."""
    seeded, users = Seeded(plan.users), dict[int, Item]()

    async def write_user(index: int) -> None:
        users[index] = await _write_user(blog.users, plan.user(index))

    async def write_post(planned: tuple[int, Item]) -> None:
        author, post = planned
        responses = [response | author_properties(users[reader]) for reader, response in plan.responses(author, post)]
        await _create_all(blog.posts, post["id"], [*responses, post])
        seeded.posts += 1
        seeded.responses += len(responses)

    await for_each(range(plan.users), write_user)
    posts = ((index, post) for index in range(plan.users) for post in plan.posts(index, users[index]))
    while page := list(islice(posts, _POSTS_AT_ONCE)):
        await for_each(page, write_post)
        stored = await blog.posts.read_many([post["id"] for _, post in page])
        errors = await handle_changed_posts(blog, [post for post in stored if post["type"] == Post.TYPE])
        if errors:
            raise errors[0]
    return seeded


async def _write_user(users: Container, planned: Item) -> Item:
    """Reserve the username, or a variant if it is taken, and create the user. Return the user as stored."""
    user_id = planned["id"]
    present = await users.read(user_id, user_id)
    if present is not None:
        return present if present["type"] == User.TYPE else planned  # the posts of a deleted user are erased again
    for name in (planned["username"], f"{planned['username']}-{user_id[:8]}"):
        with suppress(UsernameTaken):
            await reserve(users, name, user_id, 0)
            user = planned | {"username": name}
            with suppress(ItemExists):  # another process writes the same plan
                await users.create(user)
            return user
    raise ManagementError(f"Username {planned['username']!r} is taken.")


async def _create_all(posts: Container, post_id: str, items: Sequence[Item]) -> None:
    """Create a post, which comes last, and its comments and likes, unless an earlier run has."""
    if len(items) > BATCH_LIMIT and await posts.read(post_id, post_id) is not None:
        return  # also if it has been deleted since
    for start in range(0, len(items), BATCH_LIMIT):
        try:
            await posts.batch(post_id, [("create", (item,)) for item in items[start : start + BATCH_LIMIT]])
        except BatchRefused as refused:
            if not isinstance(refused.reason, ItemExists):
                raise
