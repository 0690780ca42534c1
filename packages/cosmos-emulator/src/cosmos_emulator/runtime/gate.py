"""Keeps requests and changes of the whole account apart."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager


class Gate:
    """Lets any number of requests in, each with `async with gate`, or one change.

    A change does not wait for requests that arrive later.
    """

    def __init__(self) -> None:
        self._requests = 0
        self._is_idle = asyncio.Event()
        self._is_open = asyncio.Event()
        self._is_open.set()
        self._change = asyncio.Lock()

    async def __aenter__(self) -> None:
        while not self._is_open.is_set():
            await self._is_open.wait()
        self._requests += 1

    async def __aexit__(self, *_: object) -> None:
        self._requests -= 1
        if not self._requests:
            self._is_idle.set()

    @asynccontextmanager
    async def change(self) -> AsyncIterator[None]:
        """Wait for the running requests, and run the block alone."""
        async with self._change:
            self._is_open.clear()
            try:
                while self._requests:
                    self._is_idle.clear()
                    await self._is_idle.wait()
                yield
            finally:
                self._is_open.set()
