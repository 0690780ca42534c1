"""Measure the charges of requests and change-feed functions by container, as modeled by the emulator (service-2026).

Runs the app's own commands and queries, as in bench/request_charges.py, without the user cache: with many instances,
hardly any user writes twice within ten seconds on the same instance.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass, field, fields
from itertools import count
from typing import Final

from azure.cosmos.aio import CosmosClient

from bench.models.change_feeds import ChangeFeedFollower
from bench.models.observation import observed, observed_client
from bench.models.project_model import ProjectModel
from bench.request_charges import add_comment, add_like, add_post, add_user, fill, requests
from bench.servers import Server, emulator
from management.account import open_containers
from management.provision import provision
from shared.data.blog import Blog
from shared.data.posts import edit_post
from shared.data.username_reservations import reservation_id
from shared.data.users import edit_user
from shared.models.post import PostChanges
from shared.models.user import UserChanges
from shared.platform.http.callers import BackEnd
from shared.platform.models import Item

# Arguments: the blog, a post's number, and the user.
Command = Callable[[Blog, int, Item], Awaitable[object]]

# Enough that a delivery reads its users one by one.
PARTITIONS: Final = 16
LIKE_IN_FEED: Final = "C4 like a post of the feed"
_DATABASE: Final = "capacity"
_MANY: Final = 20


@dataclass(frozen=True)
class Charges:
    """Request units (or RU/s) per container."""

    users: float = 0.0
    posts: float = 0.0
    feed: float = 0.0

    @classmethod
    def of(cls, by_container: Mapping[str, float]) -> Charges:
        return cls(*(by_container.get(container.name, 0.0) for container in fields(cls)))

    def __add__(self, other: Charges) -> Charges:
        return Charges(*(mine + theirs for mine, theirs in zip(self.parts(), other.parts(), strict=True)))

    def __sub__(self, other: Charges) -> Charges:
        return self + other * -1

    def __mul__(self, factor: float) -> Charges:
        return Charges(*(part * factor for part in self.parts()))

    def parts(self) -> tuple[float, float, float]:
        return (self.users, self.posts, self.feed)


@dataclass(frozen=True)
class DeliveryCost:
    """Charge of a delivery with the changes of n commands: `fixed` + n × `each`."""

    fixed: Charges
    each: Charges

    @classmethod
    def through(cls, few: tuple[int, Charges], many: tuple[int, Charges]) -> DeliveryCost:
        """Fit a line through two measurements (number of commands, charge)."""
        each = (many[1] - few[1]) * (1 / (many[0] - few[0]))
        return cls(few[1] - each * few[0], each)


@dataclass(frozen=True)
class MeasuredCharges:
    """Charges by request and command name.

    `rename` is the work after a rename, per item in `each`. `scanned_ru` is a cross-partition query of `posts`, per
    physical partition. Sizes are KB of JSON with system properties.
    """

    requests: dict[str, Charges]
    propagation: dict[str, DeliveryCost]
    rename: DeliveryCost
    scanned_ru: float
    sizes_kb: dict[str, float]


async def measure() -> MeasuredCharges:
    """Measure on a new emulator; takes seconds."""
    async with emulator(None, "--partitions", str(PARTITIONS)) as server:
        settings = server.settings(_DATABASE)
        await provision(settings)
        async with observed_client(settings) as client:
            author, post = await fill(await open_containers(client, _DATABASE))
            model = ProjectModel(client.get_database_client(_DATABASE))
            bench = _Bench(server, client, await ChangeFeedFollower.start(model, from_now=True), author, post)
            measured = (await bench.requests(), await bench.propagation(), *await bench.rename())
            return MeasuredCharges(*measured, await bench.sizes_kb())


@dataclass
class _Bench:
    """The filled blog of bench/request_charges.py."""

    server: Server
    client: CosmosClient
    changes: ChangeFeedFollower
    author: Item
    post: Item
    numbers: Iterator[int] = field(default_factory=count)

    async def blog(self) -> Blog:
        """Open the containers without cached users."""
        return await open_containers(self.client, _DATABASE)

    async def requests(self) -> dict[str, Charges]:
        charges = {}
        for name in requests(await self.blog(), self.author, self.post):
            request = requests(await self.blog(), self.author, self.post)[name]
            await self.server.next_second()
            with observed() as observation:
                await request()
            charges[name] = Charges.of(observation.by_container)
        return charges

    async def propagation(self) -> dict[str, DeliveryCost]:
        old = await self._old_posts(_MANY + 2)
        in_feed = await self._posts_by_others(_MANY + 2)
        changed = PostChanges(title="Another title", content="word " * 296)
        commands: dict[str, Command] = {
            LIKE_IN_FEED: lambda blog, number, person: add_like(blog, in_feed[number], person),
            "C4 like a post": lambda blog, number, person: add_like(blog, old[number], person),
            "C3 create a comment": lambda blog, number, person: add_comment(blog, old[number], person),
            "C2 edit a post": lambda blog, number, _: edit_post(blog.posts, old[number]["id"], changed, by=BackEnd()),
            "C2 create a post": lambda blog, _, person: add_post(blog, person),
            "C1 create a user": lambda blog, _, __: self._person(blog),
        }
        return {name: await self._delivery_cost(command) for name, command in commands.items()}

    async def rename(self) -> tuple[DeliveryCost, float]:
        """Measure renames of users with no items and with many; return also the query's charge per partition."""
        blog = await self.blog()
        inactive, active = await self._person(blog), await self._person(blog)
        for post in await self._old_posts(_MANY):
            await add_like(blog, post, active)
        await self.changes.settle(together=True)
        without = await self._after_rename(inactive)
        cost = DeliveryCost.through((0, without), (_MANY, await self._after_rename(active)))
        return cost, without.posts / PARTITIONS

    async def sizes_kb(self) -> dict[str, float]:
        blog = await self.blog()
        user_id, post_id, name = self.author["id"], self.post["id"], reservation_id("reader_00")
        of_post = await blog.posts.query("SELECT * FROM c", {}, partition_key=post_id, page_size=100)
        items = {
            "user": await blog.users.read(user_id, user_id),
            "reservation": await blog.users.read(name, name),
            "copy": await blog.users.read(post_id, user_id),
            **{item["type"]: item for item in of_post},
        }
        return {kind: _kb(item) for kind, item in items.items()}

    async def _after_rename(self, user: Item) -> Charges:
        blog = await self.blog()
        await edit_user(blog.users, user["id"], UserChanges(username=user["username"] + "_x"))
        return await self._followed()

    async def _delivery_cost(self, command: Command) -> DeliveryCost:
        few = await self._after(command, range(1, 2))
        return DeliveryCost.through((1, few), (_MANY, await self._after(command, range(2, 2 + _MANY))))

    async def _after(self, command: Command, numbers: range) -> Charges:
        """Return the change-feed functions' charges after this many users run the command."""
        blog = await self.blog()
        people = [await self._person(blog) for _ in numbers]
        await self.changes.settle(together=True)
        for number, person in zip(numbers, people, strict=True):
            await command(blog, number, person)
        return await self._followed()

    async def _followed(self) -> Charges:
        with observed() as observation:
            await self.changes.settle(together=True)
        return Charges.of(observation.by_container)

    async def _posts_by_others(self, count: int) -> list[Item]:
        blog = await self.blog()
        posts = [await add_post(blog, await self._person(blog)) for _ in range(count)]
        await self.changes.settle(together=True)
        return posts

    async def _old_posts(self, count: int) -> list[Item]:
        """Create posts by different users that have left the feed."""
        posts = await self._posts_by_others(count)
        blog = await self.blog()
        for _ in range(100):
            await add_post(blog, self.author)
        await self.changes.settle(together=True)
        return posts

    async def _person(self, blog: Blog) -> Item:
        return await add_user(blog, f"person_{next(self.numbers):05}")


def _kb(item: Item | None) -> float:
    return len(json.dumps(item, separators=(",", ":"), ensure_ascii=False).encode()) / 1024
