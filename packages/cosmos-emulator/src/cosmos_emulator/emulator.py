"""The emulator: data, server and background tasks."""

from __future__ import annotations

import asyncio
import ssl
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, AsyncExitStack
from functools import partial
from pathlib import Path
from typing import Final, Self

from aiohttp import web

from cosmos_emulator.charges import ChargeModel
from cosmos_emulator.contents.controls import Controls
from cosmos_emulator.faults import Faults
from cosmos_emulator.gateway import Gateway
from cosmos_emulator.http.body import MAX_READ_BYTES
from cosmos_emulator.http.connections import LimitedServer, close_listener
from cosmos_emulator.http.server import CosmosServer
from cosmos_emulator.reads.unfinished import UnfinishedQueries
from cosmos_emulator.recording import Recording, Recordings
from cosmos_emulator.runtime.clock import AdjustableClock
from cosmos_emulator.secondary_indexes import SecondaryIndexes
from cosmos_emulator.settings import EmulatorSettings
from cosmos_emulator.store.account import Account
from cosmos_emulator.store.contents import current_directory, remove_leftovers
from cosmos_emulator.store.directories import temporary_directory

_WORKERS: Final = 8
_SHUTDOWN_S: Final = 6.0  # a running script can take 5 s


class CosmosEmulator:
    """An emulator that runs inside an `async with` block.

    `endpoint` is its base URL; with TLS, clients must trust the file `certificate`. The methods of `controls`, which
    tests use, run on the emulator's event loop.
    """

    def __init__(self, settings: EmulatorSettings | None = None) -> None:
        self.settings = settings if settings is not None else EmulatorSettings()
        self.endpoint = ""
        self.certificate: Path | None = None
        self._stack = AsyncExitStack()
        self._controls: Controls | None = None
        self._recordings = Recordings(lambda: self.controls.container_names)

    @property
    def key(self) -> str:
        """The account key, base64."""
        return self.settings.key

    @property
    def faults(self) -> Faults:
        """The fault rules, which can change at any time."""
        return self.settings.faults

    @property
    def clock(self) -> AdjustableClock:
        """The clock, which can be frozen and advanced. Raises TypeError if the settings have another."""
        if not isinstance(self.settings.clock, AdjustableClock):
            raise TypeError("the settings have a clock of their own, which sets the time")
        return self.settings.clock

    @property
    def controls(self) -> Controls:
        """Reset, snapshots, and files of the account, while the emulator runs."""
        if self._controls is None:
            raise RuntimeError("the emulator does not run")
        return self._controls

    def recording(self) -> AbstractContextManager[Recording]:
        """Record the requests that are answered during a `with` block."""
        return self._recordings.recording()

    async def __aenter__(self) -> Self:
        async with AsyncExitStack() as stack:
            directory = self.settings.data_dir or stack.enter_context(temporary_directory())
            account = self._open_account(current_directory(directory))
            stack.push_async_callback(lambda: (self._controls or account).close())
            remove_leftovers(directory)
            workers = stack.enter_context(ThreadPoolExecutor(_WORKERS, thread_name_prefix="cosmos-script"))
            # Separate, so that long queries do not delay writes.
            readers = stack.enter_context(ThreadPoolExecutor(_WORKERS, thread_name_prefix="cosmos-query"))
            charges, unfinished = ChargeModel(self.settings.charge_profile), UnfinishedQueries()
            gateway = Gateway(self.settings, account, charges, workers, readers)
            stack.callback(gateway.worker_turns.close)  # after the time for running requests
            stack.callback(unfinished.forget_all)
            stack.push_async_callback(SecondaryIndexes(gateway).close)
            controls = self._controls = Controls(gateway, directory, self._open_account, unfinished.forget_all)
            self.endpoint = await self._listen(
                stack, CosmosServer(gateway, unfinished, controls, self._recordings), directory
            )
            self.settings.is_running = True
            stack.callback(setattr, self.settings, "is_running", False)
            self._stack = stack.pop_all()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._stack.aclose()

    def _open_account(self, directory: Path, *, replaces: Account | None = None) -> Account:
        days = self.settings.continuous_backup_days
        return Account(
            directory,
            self.settings.clock,
            durable=self.settings.data_dir is not None,
            replica_lag=lambda: self.settings.replica_lag,
            replaces=replaces,
            purge_interval_s=self.settings.purge_interval_s,
            log_retention_s=None if days is None else days * 24 * 3600,
        )

    async def _listen(self, stack: AsyncExitStack, server: CosmosServer, directory: Path) -> str:
        loop = asyncio.get_running_loop()
        new_request = partial(web.BaseRequest, loop=loop, client_max_size=MAX_READ_BYTES)
        # aiohttp would also decompress what no limit lets through, because it reads each body to its end.
        limited = LimitedServer(
            server.answer, server.refuse, request_factory=new_request, access_log=None, auto_decompress=False
        )
        runner = web.ServerRunner(limited, shutdown_timeout=_SHUTDOWN_S)
        await runner.setup()
        stack.push_async_callback(runner.cleanup)
        stack.callback(server.close)
        tls = self._tls(directory) if self.settings.tls else None
        server.certificate = self.certificate.read_bytes() if self.certificate else None
        listener = await loop.create_server(limited, self.settings.host, self.settings.port, ssl=tls)
        stack.push_async_callback(close_listener, listener)
        host, port = self.settings.host, listener.sockets[0].getsockname()[1]
        return f"{'https' if tls else 'http'}://{f'[{host}]' if ':' in host else host}:{port}/"

    def _tls(self, directory: Path) -> ssl.SSLContext:
        try:  # cryptography is optional and slow to import
            from cosmos_emulator.http.tls import server_context
        except ModuleNotFoundError as error:
            raise ImportError("TLS needs the package cryptography; run: pip install 'cosmos-emulator[tls]'") from error

        self.certificate = directory / "certificate.pem"
        return server_context([self.settings.host, *self.settings.tls_names], self.certificate)
