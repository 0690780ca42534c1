"""Measure how many likes of one post its partition accepts in a second.

Runs against a throttling emulator whose clock is stopped, so a run always takes one second of its time. Likes use the
app's transactions. A "process" is a separate group commit (`Batches`). For the remedy of sharding, which the app does
not have, likes go to several logical partitions, each with a counter item of type post.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from http import HTTPStatus
from itertools import count, cycle
from typing import Any, Final

from azure.cosmos.aio import CosmosClient
from cosmos_emulator import CosmosEmulator, EmulatorSettings

from bench.capacity.charges import ContainerMeter
from bench.capacity.prices_and_limits import PARTITION_RU
from management.provision import provision
from shared.database.container import Container
from shared.database.containers import POSTS
from shared.errors import DatabaseThrottled
from shared.models.base import Item
from shared.models.like import like_item
from shared.models.post import NewPost, Post, post_item
from shared.settings import Account, Settings
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
class LikeMethod:
    """A way to write likes: processes, group commit or not, shards."""

    name: str
    processes: int
    shards: int = 0
    partitions: int = 1
    grouped: bool = True
    procedure: bool = False

    @property
    def clients(self) -> int:
        """Enough to keep the partitions busy. Without group commit, more would exceed the second's throughput."""
        return _AT_ONCE * self.partitions if self.grouped else _FEW_AT_ONCE


LIKE_METHODS: Final = (
    LikeMethod("stored procedure, one like each", 1, grouped=False, procedure=True),
    LikeMethod("batch, one like each", 1, grouped=False),
    *(LikeMethod(f"group commit, {number} process{'es' if number > 1 else ''}", number) for number in (1, 8, 32, 128)),
    *(LikeMethod(f"likes in {shards} shards, 4 processes", 4, shards, 8) for shards in (8, 32, 64)),
)


@dataclass(frozen=True)
class LikesTaken:
    """Likes before the first refusal and until every logical partition refused, and their charges.

    `budget_ru` is what the physical partitions have in a second. Charges can exceed it, because requests in progress
    complete.
    """

    method: LikeMethod
    before_refusal: int
    in_all: int
    charged_ru: float
    budget_ru: int

    @property
    def ru_per_like(self) -> float:
        return self.charged_ru / max(1, self.in_all)


async def take(method: LikeMethod, *, partition_ru: int = int(PARTITION_RU.value)) -> LikesTaken:
    """Write as many likes as one second accepts."""
    async with _one_second(method, partition_ru) as (posts, targets, meter):
        run = _LikeRun(posts, _writers(method), cycle(targets))
        with meter.reading() as reading:
            await asyncio.gather(*(run.work() for _ in range(method.clients)))
        return LikesTaken(
            method, run.before_refusal, run.written, reading.charges.posts, partition_ru * method.partitions
        )


@dataclass
class _LikeRun:
    """Workers that like until each shard's partition refuses."""

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
        """Return the next shard, or None if all have refused."""
        first = None
        for target in self.targets:
            if target not in self.refusing:
                return target
            if target == first:
                return None
            first = first or target
        return None


def _writers(method: LikeMethod) -> Callable[[], Transactions]:
    if method.procedure:
        return Procedures
    if not method.grouped:
        return Batches
    processes = cycle([Batches() for _ in range(method.processes)])
    return lambda: next(processes)


@asynccontextmanager
async def _one_second(
    method: LikeMethod, partition_ru: int
) -> AsyncIterator[tuple[Container, list[str], ContainerMeter]]:
    """Create a post or its shards in a database whose clock is stopped."""
    second = time.time()
    settings = EmulatorSettings(partitions=method.partitions, clock=lambda: second)
    async with CosmosEmulator(settings) as emulator:
        configuration = Settings(account=Account(emulator.endpoint, emulator.key), database=_DATABASE)
        await provision(configuration, throughput=partition_ru * method.partitions)
        meter = ContainerMeter()

        def on_response(response: Any) -> None:
            meter.record(response)
            if response.http_response.status_code == HTTPStatus.TOO_MANY_REQUESTS:
                raise DatabaseThrottled(1)  # the clock is stopped, so a retry cannot succeed

        async with CosmosClient(emulator.endpoint, emulator.key, raw_response_hook=on_response) as client:
            posts = Container(client.get_database_client(_DATABASE).get_container_client(POSTS))
            targets = [f"post-{number}" for number in range(max(1, method.shards))]
            for target in targets:
                await posts.create(_counter(target) if method.shards else _post(target))
            settings.throttle = True
            yield posts, targets, meter


def _post(post_id: str) -> Item:
    new = NewPost.model_validate({"userId": _AUTHOR["userId"], "title": "A hot post", "content": _TEXT})
    return post_item(post_id, _AUTHOR, new, _DATE)


def _counter(post_id: str) -> Item:
    return {"id": post_id, "postId": post_id, "type": Post.TYPE, "likeCount": 0, "commentCount": 0, "version": 1}
