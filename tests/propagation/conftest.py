"""Runs every test with both implementations of the transactions."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from tests.blog import Blog, EmulatorThread, new_blog


@pytest.fixture(params=["batch", "procedure"])
async def blog(emulator: EmulatorThread, request: pytest.FixtureRequest) -> AsyncIterator[Blog]:
    async with new_blog(emulator, request.param) as provisioned:
        yield provisioned
