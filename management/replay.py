"""Replay a container's change feed from the beginning."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Any

from management.item_count import ItemCount
from management.lag import server_time
from shared.platform.database.container import Container
from shared.platform.deliveries.concurrency import for_each
from shared.platform.deliveries.delivery import DATABASE_ERRORS
from shared.platform.models import integer_of

# Same as the triggers'.
_PAGE_SIZE = 100
# The function handles many items concurrently.
_CONCURRENT_RANGES = 4
# The second reads what the handler wrote in the first. Handling that writes nothing that needs another round.
_ROUNDS = 2
# `_ts` has whole seconds, and the clocks of the database's machines differ a little.
_CLOCK_TOLERANCE_S = 5
# The host retries without limit; here, the operator can repeat the command.
_RETRY_WAITS_S = (1, 2, 4, 8)

ChangeHandler = Callable[[Iterable[Mapping[str, Any]]], Awaitable[object]]


async def replay(container: Container, handle: ChangeHandler, count: ItemCount) -> int:
    """Pass each item's latest state to `handle`, in feed order; return the number of changes.

    `count` counts the changes read. Includes changes that `handle` writes. Ends even if the app keeps writing, because
    later changes are left to its functions. Raises AzureError, DatabaseThrottled, DatabaseUnavailable.
    """
    replayed = 0

    async def replay_range(feed_range: dict[str, Any]) -> None:
        nonlocal replayed
        date = ""

        def keep_date(headers: Mapping[str, str], _: object) -> None:
            nonlocal date
            date = headers.get("Date", "")

        pages = container.proxy.query_items_change_feed(
            feed_range=feed_range, start_time="Beginning", max_item_count=_PAGE_SIZE, response_hook=keep_date
        ).by_page()
        for _ in range(_ROUNDS):
            end_s = 0
            async for page in pages:
                end_s = end_s or server_time(date) + _CLOCK_TOLERANCE_S
                changes = [change async for change in page]
                count.add(len(changes))
                await _with_retries(handle, changes)
                replayed += len(changes)
                if integer_of(changes[-1], "_ts") > end_s:
                    break
            else:
                return

    started: list[dict[str, Any]] = []
    # The parts of a range that has split take turns, so one of them can have been behind. They are read again.
    while ranges := [feed_range for feed_range in await container.feed_ranges() if feed_range not in started]:
        started += ranges
        await for_each(ranges, replay_range, concurrency=_CONCURRENT_RANGES)
    return replayed


async def _with_retries(handle: ChangeHandler, changes: list[dict[str, Any]]) -> object:
    for wait_s in _RETRY_WAITS_S:
        try:
            return await handle(changes)
        except DATABASE_ERRORS:
            await asyncio.sleep(wait_s)
    return await handle(changes)
