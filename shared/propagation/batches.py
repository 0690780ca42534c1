"""A batch of changes, each handled by itself, so that one that cannot be handled does not hold up the others."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from typing import Any, TypeVar

from shared.cosmos import Container
from shared.data.failures import keep_failure
from shared.errors import DatabaseThrottled, DatabaseUnavailable
from shared.logs import log
from shared.models.base import Item

CONCURRENCY = 32

T = TypeVar("T")


async def for_each(
    items: Iterable[T], action: Callable[[T], Awaitable[None]], *, concurrency: int = CONCURRENCY
) -> None:
    """Run `action` on all items, `concurrency` at a time. The first error ends the rest and is raised."""
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


@dataclass(frozen=True)
class Kept:
    """A change that could not be handled and is in `failures` now."""

    change: Item
    error: Exception


@dataclass(frozen=True)
class Reaction:
    """The function that reacts, as `failures` names it, and the container whose changes it reacts to."""

    source: str
    container: str
    partition_key: str

    async def handle_each(
        self, failures: Container, changes: Iterable[Item], handle: Callable[[Item], Awaitable[None]]
    ) -> list[Kept]:
        """Handle every change. One that fails for a reason of its own is kept in `failures`, and the batch goes on; the
        answer is those that were kept.

        Raises DatabaseThrottled or DatabaseUnavailable, after all changes have been tried, when the database failed
        one: then the host's retry policy delivers the batch again.
        """
        database_failures: list[Exception] = []
        kept: list[Kept] = []

        async def handle_one(change: Item) -> None:
            try:
                if error := await self._handle_or_keep(failures, change, handle):
                    kept.append(Kept(change, error))
            except (DatabaseThrottled, DatabaseUnavailable) as failure:
                database_failures.append(failure)

        await for_each(changes, handle_one)
        if database_failures:
            raise database_failures[0]
        return kept

    async def _handle_or_keep(
        self, failures: Container, change: Item, handle: Callable[[Item], Awaitable[None]]
    ) -> Exception | None:
        try:
            await handle(change)
        except (DatabaseThrottled, DatabaseUnavailable):
            raise
        except Exception as error:  # noqa: BLE001 - whatever one item brings about must not lose the batch
            log(logging.ERROR, "change kept as failure", source=self.source, id=change.get("id"), exception=error)
            key: Any = change.get(self.partition_key)
            await keep_failure(
                failures,
                source=self.source,
                container=self.container,
                partition_key=key,
                change=change,
                error=error,
            )
            return error
        return None
