"""Bounded concurrency."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from typing import TypeVar

CONCURRENCY = 32

T = TypeVar("T")


async def for_each(
    items: Iterable[T], action: Callable[[T], Awaitable[None]], *, concurrency: int = CONCURRENCY
) -> None:
    """Run `action` on all items, `concurrency` at a time. The first error cancels the rest and is raised."""
    iterator = iter(items)

    async def work() -> None:
        for item in iterator:
            await action(item)

    try:
        async with asyncio.TaskGroup() as group:
            for _ in range(concurrency):
                group.create_task(work())
    except BaseExceptionGroup as errors:
        raise errors.exceptions[0] from None
