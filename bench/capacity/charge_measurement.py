"""Measure the charges of requests and change-feed functions by container, as modeled by the emulator (service-2026).

Runs the app's own commands and queries, as in bench/request_charges.py, without the user cache: with many instances,
hardly any user writes twice within ten seconds on the same instance.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Final

from azure.cosmos.aio import CosmosClient
from cosmos_emulator import CosmosEmulator, EmulatorSettings
from cosmos_emulator.charges import ChargeModel
from cosmos_emulator.indexing import IndexingPolicy
from functions_host.cosmos_trigger.lease import FeedRange, Lease

from bench.capacity.charges import Charges, ContainerMeter
from bench.capacity.load import COMMENT, CREATE_POST, CREATE_USER, EDIT_POST, LIKE
from bench.capacity.propagation_charges import BatchCost, PropagationRun
from bench.request_charges import add_comment, add_like, add_post, add_user, fill, rows
from management.account import open_blog
from management.provision import provision
from shared.data.blog import Blog
from shared.data.posts import edit_post
from shared.data.username_reservations import reservation_id
from shared.data.users import edit_user
from shared.models.base import Item
from shared.models.like import like_item
from shared.models.post import PostChanges
from shared.models.user import UserChanges
from shared.settings import Account, Settings

# Arguments: the blog, a post's number, and the user.
Command = Callable[[Blog, int, Item], Awaitable[None]]

# Enough that a batch reads its users one by one.
PARTITIONS: Final = 16
LIKE_IN_FEED: Final = "C4 like a post of the feed"
LIKE_AGAIN: Final = "C4 like one post, many people"
_DATABASE: Final = "capacity"
_MANY: Final = 20
_KB: Final = 1024


@dataclass(frozen=True)
class MeasuredCharges:
    """Charges by request and command name.

    `commit` is a group commit of likes of one post. `rename` is the work after a rename, per item in `each`.
    `scanned_ru` is a cross-partition query of `posts`, per physical partition. Sizes are KB of JSON with system
    properties. `lease_write_ru` is a lease renewal, `poll_ru` an idle poll.
    """

    requests: dict[str, Charges]
    commit: BatchCost
    propagation: dict[str, BatchCost]
    rename: BatchCost
    scanned_ru: float
    sizes_kb: dict[str, float]
    lease_write_ru: float
    poll_ru: float


async def measure() -> MeasuredCharges:
    """Measure on a new emulator; takes seconds."""
    async with _provisioned() as (client, meter):
        blog = await open_blog(client, _DATABASE)
        author, post = await fill(blog)
        bench = _Bench(client, meter, await PropagationRun.from_now(blog), author, post)
        requests = await bench.requests()
        propagation = await bench.propagation()
        rename, scanned_ru = await bench.rename()
        return MeasuredCharges(
            requests=requests,
            commit=await bench.commit(),
            propagation=propagation,
            rename=rename,
            scanned_ru=scanned_ru,
            sizes_kb=await bench.sizes_kb(),
            lease_write_ru=lease_write_ru(),
            poll_ru=await bench.poll_ru(),
        )


@asynccontextmanager
async def _provisioned() -> AsyncIterator[tuple[CosmosClient, ContainerMeter]]:
    meter = ContainerMeter()
    async with CosmosEmulator(EmulatorSettings(partitions=PARTITIONS)) as emulator:
        await provision(Settings(account=Account(emulator.endpoint, emulator.key), database=_DATABASE))
        async with CosmosClient(emulator.endpoint, emulator.key, raw_response_hook=meter.record) as client:
            yield client, meter


@dataclass
class _Bench:
    """The filled blog of bench/request_charges.py."""

    client: CosmosClient
    meter: ContainerMeter
    propagation_run: PropagationRun
    author: Item
    post: Item
    people: int = 0

    async def blog(self) -> Blog:
        """Open the containers without cached users."""
        return await open_blog(self.client, _DATABASE)

    async def requests(self) -> dict[str, Charges]:
        charges = {}
        for number in range(len(rows(await self.blog(), self.author, self.post))):
            row = rows(await self.blog(), self.author, self.post)[number]
            with self.meter.reading() as reading:
                await row.request()
            charges[row.name] = reading.charges
        return charges

    async def commit(self) -> BatchCost:
        """Measure concurrent likes, which become two batches: the first like, then the others."""
        blog = await self.blog()
        people = [await self._person(blog) for _ in range(_MANY + 1)]
        with self.meter.reading() as reading:
            await add_like(blog, self.post, people[0])
        one = reading.charges
        with self.meter.reading() as reading:
            await asyncio.gather(*(add_like(blog, self.post, person) for person in people[1:]))
        await self.propagation_run.follow()
        return BatchCost.through((1, one), (_MANY - 1, reading.charges - one))

    async def propagation(self) -> dict[str, BatchCost]:
        old = await self._old_posts(_MANY + 2)
        in_feed = await self._posts_by_others(_MANY + 2)
        changed = PostChanges(title="Another title", content="word " * 296)

        async def edit(blog: Blog, number: int, _: Item) -> None:
            await edit_post(blog.posts, old[number]["id"], changed, etag=None)

        async def comment(blog: Blog, number: int, person: Item) -> None:
            await add_comment(blog, old[number], person)

        async def like(blog: Blog, number: int, person: Item) -> None:
            await add_like(blog, old[number], person)

        async def like_in_feed(blog: Blog, number: int, person: Item) -> None:
            await add_like(blog, in_feed[number], person)

        async def like_again(blog: Blog, _: int, person: Item) -> None:
            await add_like(blog, old[0], person)

        async def post(blog: Blog, _: int, person: Item) -> None:
            await add_post(blog, person)

        async def user(blog: Blog, _: int, __: Item) -> None:
            await self._person(blog)

        kinds: dict[str, Command] = {
            LIKE_IN_FEED: like_in_feed,
            LIKE: like,
            LIKE_AGAIN: like_again,
            COMMENT: comment,
            EDIT_POST: edit,
            CREATE_POST: post,
            CREATE_USER: user,
        }
        return {name: await self._batch_cost(command) for name, command in kinds.items()}

    async def rename(self) -> tuple[BatchCost, float]:
        """Measure renames of users with no items and with many; return also the query's charge per partition."""
        blog = await self.blog()
        inactive, active = await self._person(blog), await self._person(blog)
        for post in await self._old_posts(_MANY):
            await add_like(blog, post, active)
        await self.propagation_run.follow()
        without = await self._after_rename(inactive)
        cost = BatchCost.through((0, without), (_MANY, await self._after_rename(active)))
        return cost, without.posts / PARTITIONS

    async def _after_rename(self, user: Item) -> Charges:
        blog = await self.blog()
        await edit_user(blog.users, user["id"], UserChanges(username=user["username"] + "_x"), etag=None)
        return await self._followed()

    async def _batch_cost(self, command: Command) -> BatchCost:
        few = await self._after(command, range(1, 2))
        return BatchCost.through((1, few), (_MANY, await self._after(command, range(2, 2 + _MANY))))

    async def _after(self, command: Command, numbers: range) -> Charges:
        """Return the change-feed functions' charges after this many users run the command."""
        blog = await self.blog()
        people = [await self._person(blog) for _ in numbers]
        await self.propagation_run.follow()
        for number, person in zip(numbers, people, strict=True):
            await command(blog, number, person)
        return await self._followed()

    async def _followed(self) -> Charges:
        with self.meter.reading() as reading:
            await self.propagation_run.follow()
        return reading.charges

    async def _person(self, blog: Blog) -> Item:
        self.people += 1
        return await add_user(blog, f"person_{self.people:05}")

    async def _posts_by_others(self, count: int) -> list[Item]:
        blog = await self.blog()
        posts = [await add_post(blog, await self._person(blog)) for _ in range(count)]
        await self.propagation_run.follow()
        return posts

    async def _old_posts(self, count: int) -> list[Item]:
        """Create posts by different users that have left the feed."""
        posts = await self._posts_by_others(count)
        blog = await self.blog()
        for _ in range(100):
            await add_post(blog, self.author)
        await self.propagation_run.follow()
        return posts

    async def sizes_kb(self) -> dict[str, float]:
        blog = await self.blog()
        post_id, user_id = self.post["id"], self.author["id"]
        name = reservation_id("reader_00")
        liker = (await blog.users.read(name, name) or {})["ownerId"]
        like = like_item(post_id, {"userId": liker, "username": ""}, "")["id"]
        comments = await blog.posts.query(
            "SELECT * FROM c WHERE c.type = 'comment' OFFSET 0 LIMIT 1", {}, partition_key=post_id, page_size=1
        )
        items = {
            "user": await blog.users.read(user_id, user_id),
            "reservation": await blog.users.read(name, name),
            "copy": await blog.users.read(post_id, user_id),
            "post": await blog.posts.read(post_id, post_id),
            "like": await blog.posts.read(like, post_id),
            "comment": comments[0],
        }
        return {kind: _kb(item) for kind, item in items.items()} | {"lease": _kb(_lease("1"))}

    async def poll_ru(self) -> float:
        """Measure an idle poll of a change feed."""
        await self.propagation_run.follow()
        with self.meter.reading() as reading:
            await self.propagation_run.follow()
        return reading.idle / (2 * PARTITIONS)


def lease_write_ru() -> float:
    """Return the modeled charge of a lease update under the default policy of `leases`."""
    return ChargeModel().replace(_lease("100"), _lease("101"), IndexingPolicy({}, ["/id"]))


def _lease(continuation: str) -> Item:
    """Return a lease as the host stores it."""
    lease = Lease(
        id="posts-blog.documents.azure.com_AbCdEf==_AbCdEfGhIjk=..123",
        token="123",  # noqa: S106 - a partition's number
        feed_range=FeedRange("05C1DFFFFFFFFC", "05C1E7FFFFFFFA"),
        owner="0f8fad5b-d9cb-469f-a165-70867728950e",
        continuation=f'"{continuation}"',
    )
    system = {"_rid": "AbCdEfGhIjkBAAAAAAAAAA==", "_self": "dbs/AbCdEf==/colls/AbCdEfGhIjk=/docs/AbCdEfGhIjkBAAAAAA==/"}
    stamps = {"_etag": '"00000000-0000-0000-0000-000000000000"', "_attachments": "attachments/", "_ts": 1_763_683_200}
    return lease.as_item() | system | stamps


def _kb(item: Item | None) -> float:
    if item is None:
        raise LookupError("an item that was just written is missing")
    return len(json.dumps(item, separators=(",", ":"), ensure_ascii=False).encode()) / _KB
