"""An emulator with orders, and the explorer in Chromium. All tests share one browser, so they share its event loop."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import TYPE_CHECKING

import pytest_asyncio
from azure.cosmos import PartitionKey
from azure.cosmos.aio import ContainerProxy, CosmosClient
from cosmos_emulator import CosmosEmulator, EmulatorSettings

if TYPE_CHECKING:
    from playwright.async_api import Browser
    from tests.explorer.explorer import Explorer


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def browser() -> AsyncIterator[Browser]:
    from tests.browser import running_chromium

    async with running_chromium() as browser:
        yield browser


@pytest_asyncio.fixture(loop_scope="session")
async def emulator() -> AsyncIterator[CosmosEmulator]:
    async with CosmosEmulator(EmulatorSettings(partitions=4)) as emulator:
        yield emulator


@pytest_asyncio.fixture(loop_scope="session")
async def orders(emulator: CosmosEmulator) -> AsyncIterator[ContainerProxy]:
    """A container with 30 orders of 7 customers."""
    async with CosmosClient(emulator.endpoint, emulator.key) as client:
        database = await client.create_database("db")
        container = await database.create_container("orders", PartitionKey("/customer"), offer_throughput=600)
        for number in range(30):
            await container.create_item({"id": f"order-{number}", "customer": f"c{number % 7}", "total": number})
        yield container


@pytest_asyncio.fixture(loop_scope="session")
async def explorer(emulator: CosmosEmulator, browser: Browser) -> AsyncIterator[Explorer]:
    """Requests must not leave the emulator."""
    from tests.explorer.explorer import Explorer

    async with await browser.new_context(viewport={"width": 1280, "height": 800}) as context:
        explorer = Explorer(await context.new_page(), emulator.endpoint)
        yield explorer
        foreign = [url for url in explorer.log.requested if not url.startswith((emulator.endpoint, "about:"))]
        assert foreign == []
