"""A client of an emulator that a test starts itself."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from azure.core.pipeline.transport import AioHttpTransport
from azure.cosmos.aio import CosmosClient
from cosmos_emulator import CosmosEmulator, EmulatorSettings


@asynccontextmanager
async def emulator_client(settings: EmulatorSettings) -> AsyncIterator[CosmosClient]:
    """Start an emulator, and connect a client. Both are closed at the end."""
    async with CosmosEmulator(settings) as emulator, connected(emulator) as client:
        yield client


def connected(emulator: CosmosEmulator) -> CosmosClient:
    """Return a client of an emulator, which the caller opens and closes."""
    # By default, aiohttp looks up proxies before every request, in a thread.
    return CosmosClient(emulator.endpoint, emulator.key, transport=AioHttpTransport(use_env_settings=False))
