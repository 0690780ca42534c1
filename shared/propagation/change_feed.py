"""Change feeds: the triggers of the app's functions, and deliveries, which store the changes that cannot be handled."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

import azure.functions as func

from shared.database.container import Container, is_addressable
from shared.database.containers import LEASES, POSTS, USERS
from shared.database.date_like_texts import as_sent
from shared.database.retries import DELIVERY_RETRY_LEAST, DELIVERY_RETRY_MOST
from shared.database.scope import request_scope
from shared.errors import DatabaseThrottled, DatabaseUnavailable, RequestRefused
from shared.models.base import Item
from shared.observability import metrics
from shared.observability.logs import log
from shared.observability.spans import span, writer_of
from shared.propagation.failures import keep_failure

CONCURRENCY = 32
# These end the whole delivery, and the host repeats it. Any other error belongs to one change.
DATABASE_ERRORS = (DatabaseThrottled, DatabaseUnavailable)

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


def text_of(change: Item, name: str) -> str:
    """Return a property that must be a string, such as the partition key. Raises KeyError, TypeError."""
    value = change[name]
    if not isinstance(value, str):
        raise TypeError(f"{name} must be a string, not {type(value).__name__}")
    return value


class DeliveryUnfinished(Exception):
    """A delivery reached its deadline. The host repeats it."""


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

    def trigger(
        self, blueprint: func.Blueprint
    ) -> Callable[[Callable[[func.DocumentList, func.Context], Awaitable[None]]], Any]:
        """Register the decorated function for deliveries of this change feed, from its beginning.

        Retries have no limit: once they are exhausted, the host checkpoints the delivery, and its changes are lost
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
            minimum_interval=DELIVERY_RETRY_LEAST,
            maximum_interval=DELIVERY_RETRY_MOST,
        )
        return lambda function: retry(trigger(function))

    async def run(
        self,
        changes: Iterable[Mapping[str, Any]],
        handle: Callable[[Iterable[Mapping[str, Any]]], Awaitable[object]],
        *,
        deadline_s: float,
        traceparent: str = "",
    ) -> None:
        """Handle a delivery, and record its request charge and lag. Its span links to those that wrote the changes.

        Raises DeliveryUnfinished after `deadline_s`, because the host would end the process at its `functionTimeout`.
        Applied writes are not undone, so a repeated delivery has less to write.
        """
        delivered = as_sent([dict(change) for change in changes])
        started = time.perf_counter()
        finished = False
        writers = map(writer_of, delivered)
        of_container = {"db.collection.name": self.container}
        with (
            span(self.function, caller=traceparent, links=writers, attributes=of_container) as recorded,
            request_scope(self.function) as scope,
        ):
            try:
                async with asyncio.timeout(deadline_s) as timeout:
                    await handle(delivered)
                finished = True
            except TimeoutError:
                if not timeout.expired():
                    raise
                raise DeliveryUnfinished(
                    f"{self.function} did not finish a delivery within {deadline_s:g} s"
                    " (BLOG_DELIVERY_DEADLINE_S). What it has written is kept. The host delivers the changes again."
                ) from None
            finally:
                duration_ms = round((time.perf_counter() - started) * 1000, 1)
                charge_ru, lag_s = round(scope.request_units, 2), _age_s(delivered)
                done = {"changes": len(delivered), "finished": finished}
                fields: dict[str, Any] = {**done, "charge_ru": charge_ru, "lag_s": lag_s}
                recorded.set_attributes({f"blog.{name}": value for name, value in fields.items()})
                metrics.lag.record(lag_s, {"blog.function": self.function})
                log(logging.INFO, "delivery", function=self.function, **fields, duration_ms=duration_ms)

    async def handle_each(
        self, failures: Container, changes: Iterable[Item], handle: Callable[[Item], Awaitable[None]]
    ) -> list[Exception]:
        """Handle every change; store those that fail in `failures`, and return their errors.

        Raises DatabaseThrottled or DatabaseUnavailable, after all changes have been tried, if the database failed one
        of them. The host then delivers the changes again.
        """
        errors: list[Exception] = []
        database_errors: list[Exception] = []

        async def handle_one(change: Item) -> None:
            try:
                try:
                    if not is_addressable(change["id"]):
                        raise RequestRefused("no URL can carry its ID; create it again with another one")
                    await handle(change)
                except DATABASE_ERRORS:
                    raise
                except Exception as error:  # noqa: BLE001 - one bad item must not block the others
                    source, key = self.function, change.get(self.partition_key)
                    log(logging.ERROR, "change kept as failure", source=source, id=change.get("id"), exception=error)
                    about: dict[str, Any] = {"source": source, "container": self.container, "partition_key": key}
                    await keep_failure(failures, **about, change=change, error=error)
                    metrics.failures.add(1, {"blog.function": source})
                    errors.append(error)
            except DATABASE_ERRORS as error:
                database_errors.append(error)

        await for_each(changes, handle_one)
        if database_errors:
            raise database_errors[0]
        return errors


USERS_CHANGE_FEED = ChangeFeed("on_users_changed", USERS, partition_key="userId")
POSTS_CHANGE_FEED = ChangeFeed("on_posts_changed", POSTS, partition_key="postId")
CHANGE_FEEDS = {feed.function: feed for feed in (USERS_CHANGE_FEED, POSTS_CHANGE_FEED)}


def _age_s(changes: Iterable[Mapping[str, Any]]) -> float:
    """Age of the oldest change, from the database's clock (`_ts`, whole seconds) to this process's clock."""
    now_s = time.time()
    oldest = min((second for change in changes if isinstance(second := change.get("_ts"), int)), default=now_s)
    return round(max(0.0, now_s - oldest), 1)
