"""Measure how many likes of one post its partition accepts in a second.

Runs against a throttling emulator whose clock is stopped, so a run always takes one second of its time. Likes use the
app's transactions. Each "process" has its own.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from http import HTTPStatus
from itertools import count, cycle
from typing import Any, Final

from azure.cosmos.aio import CosmosClient
from cosmos_emulator import CosmosEmulator, EmulatorSettings

from bench.request_charges import TEXT
from management.provision import provision
from shared.containers import POSTS
from shared.models.like import like_item
from shared.models.post import NewPost, post_item
from shared.platform.database.container import Container
from shared.platform.errors import DatabaseThrottled
from shared.platform.settings import Account
from shared.settings import Settings
from shared.transactions import Transactions, transactions
from shared.transactions.batches import add_item

_DATABASE: Final = "hot"
_POST: Final = "post-0"
_DATE: Final = "2026-01-01T00:00:00.000Z"
_AUTHOR: Final = {"userId": "00000000-0000-4000-8000-000000000000", "username": "the_author"}
_FEW: Final = 4


@dataclass(frozen=True)
class LikeMethod:
    """A way to write likes: `transactions`, or the app's default transactions in each of its `processes`.

    `clients` keep the partition busy. Without group commit, more would exceed the budget.
    """

    name: str
    processes: int = 1
    transactions: Transactions | None = None
    clients: int = 256


LIKE_METHODS: Final = (
    LikeMethod("stored procedure, one like each", transactions=transactions("procedure"), clients=_FEW),
    LikeMethod("batch, one like each", transactions=Transactions(add_item), clients=_FEW),
    *(LikeMethod(f"group commit, {number} process{'es' if number > 1 else ''}", number) for number in (1, 8, 32, 128)),
)


@dataclass
class LikesTaken:
    """Likes in a second of `budget_ru`, and their charge, which is higher if requests are in progress at its end."""

    method: LikeMethod
    budget_ru: int
    likes: int = 0
    charged_ru: float = 0.0
    refused: bool = False
    likers: count[int] = field(default_factory=count)

    @property
    def ru_per_like(self) -> float:
        return self.charged_ru / max(1, self.likes)


async def take(method: LikeMethod, *, partition_ru: int = 10_000) -> LikesTaken:
    """Write as many likes as one second accepts."""
    taken = LikesTaken(method, partition_ru)
    async with _one_second(taken) as posts:
        writers = cycle([method.transactions or transactions("batch") for _ in range(method.processes)])

        async def client() -> None:
            while not taken.refused:
                liker = f"00000000-0000-4000-8000-{next(taken.likers):012}"
                like = like_item(_POST, {"userId": liker, "username": "somebody"}, _DATE)
                try:
                    await next(writers).add(posts, like, None)
                except DatabaseThrottled:
                    taken.refused = True
                    continue
                taken.likes += 1

        await asyncio.gather(*(client() for _ in range(method.clients)))
    return taken


@asynccontextmanager
async def _one_second(taken: LikesTaken) -> AsyncIterator[Container]:
    """Create the post in a database of this process, whose clock can be stopped."""
    second = time.time()
    settings = EmulatorSettings(partitions=1, clock=lambda: second)
    async with CosmosEmulator(settings) as emulator:
        configuration = Settings(account=Account(emulator.endpoint, emulator.key), database=_DATABASE)
        await provision(configuration, throughput=taken.budget_ru)

        def on_response(response: Any) -> None:
            if settings.throttle:
                taken.charged_ru += float(response.http_response.headers.get("x-ms-request-charge") or 0)
            if response.http_response.status_code == HTTPStatus.TOO_MANY_REQUESTS:
                raise DatabaseThrottled(1)  # the clock is stopped, so a retry cannot succeed

        async with CosmosClient(emulator.endpoint, emulator.key, raw_response_hook=on_response) as client:
            posts = Container(client.get_database_client(_DATABASE).get_container_client(POSTS))
            new = NewPost.model_validate({"userId": _AUTHOR["userId"], "title": "A hot post", "content": TEXT})
            await posts.create(post_item(_POST, _AUTHOR, new, _DATE))
            settings.throttle = True
            yield posts
