"""A client of an emulator that a test starts itself."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from azure.cosmos.aio import CosmosClient
from cosmos_emulator import CosmosEmulator, EmulatorSettings


@asynccontextmanager
async def emulator_client(settings: EmulatorSettings) -> AsyncIterator[CosmosClient]:
    """Start an emulator, and connect a client. Both are closed at the end."""
    async with CosmosEmulator(settings) as emulator, CosmosClient(emulator.endpoint, emulator.key) as client:
        yield client
