"""What every test of the host may ask for."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
from aiohttp import ClientSession
from tests.cosmos_apps import Watched, watched


@pytest.fixture
async def http() -> AsyncIterator[ClientSession]:
    """An HTTP client that follows no redirects of its own making and keeps no cookies."""
    async with ClientSession() as session:
        yield session


@pytest.fixture
async def account() -> AsyncIterator[Watched]:
    async with watched() as account:
        yield account
