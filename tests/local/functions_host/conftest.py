"""What every test of the host may ask for."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
from aiohttp import ClientSession


@pytest.fixture
async def http() -> AsyncIterator[ClientSession]:
    """An HTTP client that follows no redirects of its own making and keeps no cookies."""
    async with ClientSession() as session:
        yield session
