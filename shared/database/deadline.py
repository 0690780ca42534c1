"""Deadlines for requests and for work that several requests share."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from shared.database.charges import current_charge
from shared.errors import DatabaseThrottled, DatabaseUnavailable


@asynccontextmanager
async def deadline(seconds: float) -> AsyncIterator[None]:
    """Cancel the block after `seconds`; use inside `metered`.

    Writes that the database has applied by then stay applied. The SDK waits as long as a 429 demands. If the block is
    throttled when time runs out, it raises DatabaseThrottled with that Retry-After. Otherwise it raises
    DatabaseUnavailable.
    """
    try:
        async with asyncio.timeout(seconds) as timeout:
            yield
    except TimeoutError as error:
        if not timeout.expired():
            raise
        if (charge := current_charge.get()) is not None and charge.retry_after_s is not None:
            raise DatabaseThrottled(charge.retry_after_s) from error
        raise DatabaseUnavailable(f"no answer within {seconds:g} s") from error
