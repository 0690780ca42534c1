"""Change feeds: how the app's functions are triggered, and how a batch survives a change that cannot be handled."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

import azure.functions as func

from shared.charges import metered
from shared.containers import LEASES, POSTS, USERS
from shared.cosmos import Container
from shared.data.failures import keep_failure
from shared.errors import DatabaseThrottled, DatabaseUnavailable
from shared.logs import log
from shared.models.base import Item
from shared.retries import BATCH_RETRY_LEAST, BATCH_RETRY_MOST

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


@dataclass(frozen=True)
class ChangeFeed:
    """The change feed of `container`, and `function`, which handles it."""

    function: str
    container: str
    partition_key: str

    @property
    def lease_prefix(self) -> str:
        """The start of the IDs of the function's leases."""
        return f"{self.container}-"

    def trigger(self, blueprint: func.Blueprint) -> Callable[[Callable[[func.DocumentList], Awaitable[None]]], Any]:
        """Register the decorated function for batches of this change feed.

        It starts from the beginning, to include changes from before the app first ran. It retries without limit: once
        retries are exhausted, the host checkpoints the batch, and the changes are lost
        (https://learn.microsoft.com/azure/azure-functions/functions-bindings-error-pages).
        """
        trigger = blueprint.cosmos_db_trigger(
            arg_name="changes",
            connection="COSMOS",
            database_name="%BLOG_DATABASE%",
            container_name=self.container,
            lease_container_name=LEASES,
            lease_container_prefix=self.lease_prefix,
            start_from_beginning=True,  # type: ignore[arg-type]  # annotated as a time; the host expects a bool
            max_items_per_invocation=100,
            # Lists must show a new post within 1.5 s (bench/propagation.py), and each poll is charged.
            feed_poll_delay=300,
            # These bound how long the changes of a killed host wait for another host.
            lease_acquire_interval=2_000,
            lease_renew_interval=5_000,
            lease_expiration_interval=15_000,
        )
        retry = blueprint.retry(
            strategy="exponential_backoff",
            max_retry_count="-1",
            minimum_interval=BATCH_RETRY_LEAST,
            maximum_interval=BATCH_RETRY_MOST,
        )
        return lambda function: retry(trigger(function))

    async def run(
        self, changes: Iterable[Mapping[str, Any]], handle: Callable[[Iterable[Mapping[str, Any]]], Awaitable[object]]
    ) -> None:
        """Handle a batch and log its request charge and lag."""
        batch = list(changes)
        started = time.perf_counter()
        with metered() as charge:
            await handle(batch)
            log(
                logging.INFO,
                "batch",
                function=self.function,
                changes=len(batch),
                charge_ru=round(charge.request_units, 2),
                duration_ms=round((time.perf_counter() - started) * 1000, 1),
                lag_s=_age_s(batch),
            )

    async def handle_each(
        self, failures: Container, changes: Iterable[Item], handle: Callable[[Item], Awaitable[None]]
    ) -> list[Exception]:
        """Handle every change; store those that fail in `failures`, and return their errors.

        Raises DatabaseThrottled or DatabaseUnavailable, after all changes have been tried, if the database failed one
        of them. The host then delivers the batch again.
        """
        errors: list[Exception] = []
        database_errors: list[Exception] = []

        async def handle_or_store(change: Item) -> None:
            try:
                await handle(change)
            except (DatabaseThrottled, DatabaseUnavailable):
                raise
            except Exception as error:  # noqa: BLE001 - one bad item must not block the others
                log(logging.ERROR, "change kept as failure", source=self.function, id=change.get("id"), exception=error)
                key: Any = change.get(self.partition_key)
                about = {"source": self.function, "container": self.container, "partition_key": key}
                await keep_failure(failures, **about, change=change, error=error)
                errors.append(error)

        async def handle_one(change: Item) -> None:
            try:
                await handle_or_store(change)
            except (DatabaseThrottled, DatabaseUnavailable) as error:
                database_errors.append(error)

        await for_each(changes, handle_one)
        if database_errors:
            raise database_errors[0]
        return errors


USERS_FEED = ChangeFeed("on_users_changed", USERS, partition_key="userId")
POSTS_FEED = ChangeFeed("on_posts_changed", POSTS, partition_key="postId")


def _age_s(batch: Iterable[Mapping[str, Any]]) -> float:
    """Age of the oldest change, from the database's clock (`_ts`, whole seconds) to this process's clock."""
    written = (change.get("_ts") for change in batch)
    oldest = min((second for second in written if isinstance(second, int)), default=None)
    return 0.0 if oldest is None else round(max(0.0, time.time() - oldest), 1)
