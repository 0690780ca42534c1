"""Replay a container's change feed from the beginning through a function's reaction."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Any

from shared.cosmos import Container
from shared.errors import DatabaseUnavailable
from shared.propagation.change_feed import for_each

# Same as the triggers (shared/propagation/change_feed.py).
_PAGE_SIZE = 100
# Each reaction handles many items concurrently.
_CONCURRENT_RANGES = 4
# The functions rely on the host's endless retries; a user can run the command again.
_RETRY_WAITS_S = (1, 2, 4, 8)

Reaction = Callable[[Iterable[Mapping[str, Any]]], Awaitable[object]]


async def replay(container: Container, reaction: Reaction) -> int:
    """Pass each item's latest state to the reaction, in feed order, and return the number of changes.

    Includes changes that the reaction itself writes. Raises DatabaseUnavailable if a page keeps failing, and the SDK's
    AzureError.
    """
    replayed = 0

    async def replay_range(feed_range: dict[str, Any]) -> None:
        nonlocal replayed
        pages = container.proxy.query_items_change_feed(
            feed_range=feed_range, start_time="Beginning", max_item_count=_PAGE_SIZE
        ).by_page()
        async for page in pages:
            changes = [change async for change in page]
            await _react(reaction, changes)
            replayed += len(changes)

    ranges = [feed_range async for feed_range in container.proxy.read_feed_ranges()]
    await for_each(ranges, replay_range, concurrency=_CONCURRENT_RANGES)
    return replayed


async def _react(reaction: Reaction, changes: list[dict[str, Any]]) -> object:
    for wait_s in _RETRY_WAITS_S:
        try:
            return await reaction(changes)
        except DatabaseUnavailable:
            await asyncio.sleep(wait_s)
    return await reaction(changes)
