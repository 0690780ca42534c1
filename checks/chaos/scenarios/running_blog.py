"""A large blog with hosts that can be killed."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from aiohttp import ClientSession, TCPConnector

from checks.chaos.api_client import ApiClient
from checks.chaos.database import Database
from checks.chaos.hosts import Hosts
from checks.chaos.reader import Reader
from checks.chaos.run_record import RunRecord
from checks.chaos.scenarios.loading import start_with
from management.account import open_client, open_containers
from management.lag import Lag, measure_lags
from management.verify import verify_within
from shared.data.blog import Blog
from shared.platform.models import Item

_CLOCKS_S = (-2.0, 3.0)
_KILLED_EVERY_S = (1.0, 6.0)
_SETTLED_WITHIN_S = 300.0
_POLL_S = 0.5


@dataclass
class RunningBlog:
    blog: Blog
    hosts: Hosts
    record: RunRecord
    reader: Reader
    api_client: Callable[[str], ApiClient]
    lags: Callable[[], Awaitable[dict[str, Lag]]]

    async def settled(self) -> None:
        """Wait up to five minutes until the data is consistent. Raises AssertionError with findings."""
        findings = await verify_within(self.blog, _SETTLED_WITHIN_S)
        assert not findings, "\n".join(map(str, findings[:20]))

    async def caught_up(self) -> None:
        """Wait up to five minutes until all changes are handled. Raises TimeoutError."""
        async with asyncio.timeout(_SETTLED_WITHIN_S):
            while any(lag.changes != 0 for lag in (await self.lags()).values()):  # noqa: ASYNC110 - another process
                await asyncio.sleep(_POLL_S)

    @asynccontextmanager
    async def under_kills(self, number: int, seed: int) -> AsyncIterator[None]:
        """Kill `number` hosts during the block."""
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
async def running_blog(directory: Path, users: Iterable[Item], posts: Iterable[Item]) -> AsyncIterator[RunningBlog]:
    """Load the data, start two hosts and wait until they have caught up."""
    database = Database(directory)
    hosts = Hosts(database.settings, directory, _CLOCKS_S)
    record = RunRecord()
    try:
        await start_with(database, directory, users, posts)
        await hosts.start()
        with (directory / "commands.jsonl").open("w", encoding="utf-8") as log:
            async with (
                ClientSession(connector=TCPConnector(limit=0)) as session,
                open_client(database.settings) as client,
            ):

                def api_client(name: str) -> ApiClient:
                    commands, way = random.Random(f"{name} commands"), random.Random(f"{name} way")
                    return ApiClient(session, hosts, record, commands, way, log, name)

                endpoint = database.settings.account.endpoint
                proxy = client.get_database_client(database.settings.database)
                lags = partial(measure_lags, proxy, account_endpoint=endpoint)
                blog = await open_containers(client, database.settings.database)
                system = RunningBlog(blog, hosts, record, Reader(api_client("reader")), api_client, lags)
                await system.caught_up()
                await system.settled()
                yield system
        assert not record.divergences, "\n".join(record.divergences)
    finally:
        await hosts.end()
        await database.end()
