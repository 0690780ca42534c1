"""A large blog, its hosts, and those who kill them."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from aiohttp import ClientSession, TCPConnector

from management.account import Blog, open_blog, signed_in
from management.lag import Lag, measure_lags
from management.verify import verify_within
from shared.models.base import Item
from tests.chaos.database import Database
from tests.chaos.hosts import Hosts
from tests.chaos.reading import Reader
from tests.chaos.record import Record
from tests.chaos.scenarios.loading import start_with
from tests.chaos.sender import Sender

_CLOCKS_S = (-2.0, 3.0)
_KILLED_EVERY_S = (1.0, 6.0)
_SETTLED_WITHIN_S = 300.0
_POLL_S = 0.5


@dataclass
class Stage:
    """What a scenario plays on."""

    blog: Blog
    hosts: Hosts
    record: Record
    reader: Reader
    sender: Callable[[str], Sender]
    lags: Callable[[], Awaitable[dict[str, Lag]]]

    async def settled(self) -> None:
        """Wait until nothing is on its way. Raises AssertionError with what is wrong after five minutes."""
        findings = await verify_within(self.blog, _SETTLED_WITHIN_S)
        assert not findings, "\n".join(map(str, findings[:20]))

    async def caught_up(self) -> None:
        """Wait until the functions have seen every change. Raises TimeoutError after five minutes."""
        async with asyncio.timeout(_SETTLED_WITHIN_S):
            while any(lag.changes != 0 for lag in (await self.lags()).values()):  # noqa: ASYNC110 - of another process
                await asyncio.sleep(_POLL_S)

    @asynccontextmanager
    async def under_kills(self, number: int, seed: int) -> AsyncIterator[None]:
        """Kill so many hosts, one every few seconds; at the end of the block those that are left to kill, too."""
        generator = random.Random(seed)

        async def kill() -> None:
            for _ in range(number):
                await asyncio.sleep(generator.uniform(*_KILLED_EVERY_S))
                await self.hosts.kill_one(generator)

        killing = asyncio.create_task(kill())
        try:
            yield
            await killing
        finally:
            killing.cancel()
            await asyncio.gather(killing, return_exceptions=True)


@asynccontextmanager
async def stage(directory: Path, users: Iterable[Item], posts: Iterable[Item]) -> AsyncIterator[Stage]:
    """Load, start two hosts, and let them come to the end of the change feeds."""
    database = Database(directory)
    hosts = Hosts(database.settings, directory, _CLOCKS_S)
    record = Record()
    try:
        await start_with(database, directory, users, posts)
        await hosts.start()
        with (directory / "commands.jsonl").open("w", encoding="utf-8") as log:
            async with (
                ClientSession(connector=TCPConnector(limit=0)) as session,
                signed_in(database.settings) as client,
            ):

                def sender(name: str) -> Sender:
                    commands, way = random.Random(f"{name} commands"), random.Random(f"{name} way")
                    return Sender(session, hosts, record, commands, way, log, name)

                endpoint = database.settings.account_endpoint
                proxy = client.get_database_client(database.settings.database)
                lags = partial(measure_lags, proxy, account_endpoint=endpoint)
                blog = await open_blog(client, database.settings.database)
                on = Stage(blog, hosts, record, Reader(sender("reader")), sender, lags)
                await on.caught_up()
                await on.settled()
                yield on
        assert not record.divergences, "\n".join(record.divergences)
    finally:
        await hosts.end()
        await database.end()
