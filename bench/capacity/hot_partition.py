"""How many likes of one post its partition takes within a second before it refuses one: run against the emulator with
`throttle`, whose clock stands still, so that it is always the same second however long the run takes.

The likes go through the app's own transactions. A "process" is a group commit of its own (`Batches`): that is all
that the database sees of one. For the remedy, sharding, each like goes to one of several logical partitions, which has
a counter of its own: an item with the type of a post, so that the same group commit serves it unchanged. The app itself
has no shards.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from itertools import count, cycle
from typing import Final

from azure.cosmos.aio import CosmosClient
from cosmos_emulator import CosmosEmulator, EmulatorSettings

from bench.capacity.charges import ContainerMeter
from bench.capacity.published import PARTITION_RU
from management.provision import provision
from shared.containers import POSTS
from shared.cosmos import Container
from shared.errors import DatabaseThrottled
from shared.models.base import Item
from shared.models.like import like_item
from shared.models.post import NewPost, Post, post_item
from shared.settings import Settings
from shared.transactions import Transactions
from shared.transactions.batches import Batches
from shared.transactions.procedures import Procedures

_DATABASE: Final = "hot"
_DATE: Final = "2026-01-01T00:00:00.000Z"
_AUTHOR: Final = {"userId": "00000000-0000-4000-8000-000000000000", "username": "the_author"}
_TEXT: Final = ("word " * 296).strip()
_AT_ONCE: Final = 256
_FEW_AT_ONCE: Final = 4


@dataclass(frozen=True)
class Way:
    """How likes are written: by how many processes, with or without group commit, over how many logical partitions."""

    name: str
    processes: int
    shards: int = 0
    partitions: int = 1
    grouped: bool = True
    procedure: bool = False

    @property
    def clients(self) -> int:
        """As many as a partition can be kept busy with, for each; few where each like is a request of its own, for
        those under way go beyond the second's throughput."""
        return _AT_ONCE * self.partitions if self.grouped else _FEW_AT_ONCE


WAYS: Final = (
    Way("stored procedure, one like each", 1, grouped=False, procedure=True),
    Way("batch, one like each", 1, grouped=False),
    *(Way(f"group commit, {number} process{'es' if number > 1 else ''}", number) for number in (1, 8, 32, 128)),
    *(Way(f"likes in {shards} shards, 4 processes", 4, shards, 8) for shards in (8, 32, 64)),
)


@dataclass(frozen=True)
class Taken:
    """`before_refusal` likes were written until the first was refused, `in_all` until every logical partition refused.
    They were charged `charged_ru`, refusals among it; `budget_ru` is what all physical partitions have in a second. The
    charge may go beyond it: requests that are under way when it is spent are carried out."""

    way: Way
    before_refusal: int
    in_all: int
    charged_ru: float
    budget_ru: int

    @property
    def ru_per_like(self) -> float:
        """Of the likes that were written in all."""
        return self.charged_ru / max(1, self.in_all)


async def take(way: Way, *, partition_ru: int = int(PARTITION_RU.value)) -> Taken:
    """One second of `way`: as many likes at a time as there is place for, until nothing more is taken."""
    async with _one_second(way, partition_ru) as (posts, targets, meter):
        run = _Run(posts, _writers(way), cycle(targets))
        with meter.reading() as reading:
            await asyncio.gather(*(run.work() for _ in range(way.clients)))
        return Taken(way, run.before_refusal, run.written, reading.charges.posts, partition_ru * way.partitions)


@dataclass
class _Run:
    """Workers that like until the partition that they are at refuses. Its shard is left out from then on."""

    posts: Container
    writers: Callable[[], Transactions]
    targets: Iterator[str]
    numbers: Iterator[int] = field(default_factory=count)
    refusing: Counter[str] = field(default_factory=Counter)
    written: int = 0
    before_refusal: int = 0

    async def work(self) -> None:
        while (target := self._next()) is not None:
            liker = f"00000000-0000-4000-8000-{next(self.numbers):012}"
            like = like_item(target, {"userId": liker, "username": "somebody"}, _DATE)
            try:
                await self.writers().add(self.posts, like)
            except DatabaseThrottled:
                self.refusing[target] += 1
                continue
            self.written += 1
            if not self.refusing:
                self.before_refusal += 1

    def _next(self) -> str | None:
        """In turn; None when each has refused."""
        first = None
        for target in self.targets:
            if target not in self.refusing:
                return target
            if target == first:
                return None
            first = first or target
        return None


def _writers(way: Way) -> Callable[[], Transactions]:
    if way.procedure:
        return Procedures
    if not way.grouped:
        return Batches
    processes = cycle([Batches() for _ in range(way.processes)])
    return lambda: next(processes)


@asynccontextmanager
async def _one_second(way: Way, partition_ru: int) -> AsyncIterator[tuple[Container, list[str], ContainerMeter]]:
    """A post, or its shards, and a database in which all that follows happens in one second."""
    second = time.time()
    settings = EmulatorSettings(partitions=way.partitions, clock=lambda: second)
    async with CosmosEmulator(settings) as emulator:
        configuration = Settings(emulator.endpoint, emulator.key, _DATABASE)
        await provision(configuration, throughput=partition_ru * way.partitions)
        meter = ContainerMeter()

        async with CosmosClient(
            emulator.endpoint, emulator.key, raw_response_hook=meter.record, retry_throttle_total=0
        ) as client:
            posts = Container(client.get_database_client(_DATABASE).get_container_client(POSTS))
            targets = [f"post-{number}" for number in range(max(1, way.shards))]
            for target in targets:
                await posts.create(_counter(target) if way.shards else _post(target))
            settings.throttle = True
            yield posts, targets, meter


def _post(post_id: str) -> Item:
    new = NewPost.model_validate({"userId": _AUTHOR["userId"], "title": "A hot post", "content": _TEXT})
    return post_item(post_id, _AUTHOR, new, _DATE)


def _counter(post_id: str) -> Item:
    """What a shard keeps of its post."""
    return {"id": post_id, "postId": post_id, "type": Post.TYPE, "likeCount": 0, "commentCount": 0, "version": 1}
