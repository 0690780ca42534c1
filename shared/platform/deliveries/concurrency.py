"""Bounded concurrency."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from itertools import chain, islice
from typing import TypeVar

CONCURRENCY = 32

T = TypeVar("T")


async def for_each(
    items: Iterable[T], action: Callable[[T], Awaitable[None]], *, concurrency: int = CONCURRENCY
) -> None:
    """Run `action` on all items, `concurrency` at a time. The first error cancels the rest and is raised."""
    iterator = iter(items)
    first = list(islice(iterator, concurrency))
    remaining = chain(first, iterator)

    async def work() -> None:
        for item in remaining:
            await action(item)

    try:
        async with asyncio.TaskGroup() as group:
            for _ in first:
                group.create_task(work())
    except BaseExceptionGroup as errors:
        raise errors.exceptions[0] from None
