"""This host with the app of odd functions."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from urllib.parse import urlsplit

from tests.fidelity.odd_host import ENVIRONMENT, copied_app, write_keys
from tests.running import host_process


@asynccontextmanager
async def own_host(folder: Path) -> AsyncIterator[int]:
    """Run the app until the block ends. Yields the port."""
    state = folder / "state"
    write_keys(state / "secrets")
    options = ("--enable-auth", "--state-dir", str(state), "--allowed-host", "*")
    # Without a key, the helper cannot ask whether the triggers listen.
    async with host_process(copied_app(folder), "own-host", ENVIRONMENT, *options, wait=False) as host:
        yield urlsplit(host.url).port or 0
