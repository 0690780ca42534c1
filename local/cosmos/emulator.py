"""The emulator: its data, its server, and what it does in the background."""

from __future__ import annotations

import asyncio
import logging
import sqlite3
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack
from types import TracebackType
from typing import Final, Self

from aiohttp import web

from local.cosmos.charges import ChargeModel
from local.cosmos.gateway import Gateway
from local.cosmos.server import CosmosServer, new_request
from local.cosmos.settings import EmulatorSettings
from local.cosmos.store.account import Account
from local.cosmos.store.directories import temporary_directory
from local.cosmos.store.partition import Partition

_LOG: Final = logging.getLogger(__name__)
_WORKERS: Final = 8
_SHUTDOWN_S: Final = 6.0  # a script under way may take 5


class CosmosEmulator:
    """An embedded Cosmos DB, between `async with` and its end.

    `endpoint` and `key` are what a client takes; `settings` may be changed meanwhile where they allow it.
    """

    def __init__(self, settings: EmulatorSettings | None = None) -> None:
        self.settings = settings if settings is not None else EmulatorSettings()
        self.endpoint = ""
        self._stack = AsyncExitStack()

    @property
    def key(self) -> str:
        """The account key, base64."""
        return self.settings.key

    async def __aenter__(self) -> Self:
        async with AsyncExitStack() as stack:
            account = await self._open_account(stack)
            workers = stack.enter_context(ThreadPoolExecutor(_WORKERS, thread_name_prefix="cosmos-script"))
            gateway = Gateway(self.settings, account, ChargeModel(self.settings.charge_profile), workers)
            self.endpoint = await self._listen(stack, CosmosServer(gateway))
            purge = asyncio.create_task(self._purge(account), name="cosmos-ttl-purge")
            stack.push_async_callback(_cancelled, purge)
            self._stack = stack.pop_all()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._stack.aclose()

    async def _open_account(self, stack: AsyncExitStack) -> Account:
        directory = self.settings.data_dir
        durable = directory is not None
        if directory is None:
            directory = stack.enter_context(temporary_directory())
        account = Account(directory, self.settings.clock, durable=durable)
        stack.push_async_callback(account.close)
        return account

    async def _listen(self, stack: AsyncExitStack, server: CosmosServer) -> str:
        runner = web.ServerRunner(
            web.Server(server.answer, request_factory=new_request, access_log=None), shutdown_timeout=_SHUTDOWN_S
        )
        await runner.setup()
        stack.push_async_callback(runner.cleanup)
        site = web.TCPSite(runner, self.settings.host, self.settings.port)
        await site.start()
        port = runner.addresses[0][1]
        return f"http://{self.settings.host}:{port}/"

    async def _purge(self, account: Account) -> None:
        """Frees the space of expired items now and then; nobody can see them meanwhile."""
        while True:
            await asyncio.sleep(self.settings.purge_interval_s)
            for container in account.containers:
                for partition in container.partitions:
                    await _purge(partition)


async def _purge(partition: Partition) -> None:
    if not partition.is_open:
        return
    try:
        await partition.purge_expired()
    except sqlite3.Error:
        _LOG.exception("expired items of partition %s could not be purged; they stay invisible", partition.id)


async def _cancelled(task: asyncio.Task[None]) -> None:
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
