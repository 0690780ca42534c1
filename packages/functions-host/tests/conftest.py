"""Fixtures: an HTTP client and an account. The fixture `cosmos` comes from the pytest plugin of cosmos-emulator."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

import pytest
from aiohttp import ClientSession
from tests.cosmos_apps import Account, Clock, connected


@pytest.fixture
async def http() -> AsyncIterator[ClientSession]:
    async with ClientSession() as session:
        yield session


@pytest.fixture
def clock() -> Clock:
    """The clock of the account."""
    return Clock()


@pytest.fixture
def partitions() -> int:
    """Physical partitions of a container. Parametrize a test to override it."""
    return 1


@pytest.fixture
def cosmos_settings(cosmos_settings: Any, clock: Clock, partitions: int) -> Any:
    return replace(cosmos_settings, clock=clock, partitions=partitions)


@pytest.fixture
async def account(cosmos: Any) -> AsyncIterator[Account]:
    """An empty account with a database and a container."""
    async with connected(cosmos.endpoint, cosmos.key) as account:
        yield account
