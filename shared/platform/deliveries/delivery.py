"""Deliveries of changes: how one is run within its deadline, and what happens to a change that cannot be handled."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Any

from shared.platform import telemetry
from shared.platform.database.container import Container
from shared.platform.database.scope import request_scope
from shared.platform.database.sdk_gaps import is_addressable
from shared.platform.deliveries.change_feed import ChangeFeed
from shared.platform.deliveries.concurrency import for_each
from shared.platform.deliveries.failures import keep_failure
from shared.platform.errors import DatabaseThrottled, DatabaseUnavailable, RequestRefused
from shared.platform.models import Item
from shared.platform.name import NAME

# These end the whole delivery, and the host repeats it. Any other error belongs to one change.
DATABASE_ERRORS = (DatabaseThrottled, DatabaseUnavailable)


class DeliveryUnfinished(Exception):
    """A delivery reached its deadline. The host repeats it."""


async def run_delivery(
    feed: ChangeFeed,
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
    delivered = [dict(change) for change in changes]
    started = time.perf_counter()
    finished, reason = False, dict[str, Any]()
    attributes, writers = {"db.collection.name": feed.container}, map(telemetry.writer_of, delivered)
    with (
        telemetry.span(feed.function, caller=traceparent, links=writers, attributes=attributes) as recorded,
        request_scope(feed.function) as scope,
    ):
        try:
            async with asyncio.timeout(deadline_s) as timeout:
                await handle(delivered)
            finished = True
        except DATABASE_ERRORS as error:
            reason = _reason(error)
            raise
        except TimeoutError:
            if not timeout.expired():
                raise
            raise DeliveryUnfinished(
                f"{feed.function} did not finish a delivery within {deadline_s:g} s"
                f" ({NAME.upper()}_DELIVERY_DEADLINE_S). Its writes are kept. The host delivers the changes again."
            ) from None
        finally:
            duration_ms = round((time.perf_counter() - started) * 1000, 1)
            charge_ru, lag_s = round(scope.request_units, 2), _age_s(delivered)
            fields: dict[str, Any] = {"changes": len(delivered), "finished": finished}
            fields |= {"charge_ru": charge_ru, "lag_s": lag_s}
            recorded.set_attributes({f"{NAME}.{name}": value for name, value in fields.items()})
            telemetry.lag.record(lag_s, {f"{NAME}.function": feed.function})
            telemetry.log(logging.INFO, "delivery", function=feed.function, **fields, **reason, duration_ms=duration_ms)


async def handle_each(
    feed: ChangeFeed, failures: Container, changes: Iterable[Item], handle: Callable[[Item], Awaitable[None]]
) -> list[Exception]:
    """Handle every change; store those that fail in `failures`, and return their errors.

    Raises DatabaseThrottled or DatabaseUnavailable, after all changes have been tried, if the database failed one of
    them. The host then delivers the changes again.
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
                fields = {"source": feed.function, "id": change.get("id"), **_reason(error)}
                telemetry.log(logging.ERROR, "change kept as failure", **fields, exception=error)
                await keep_failure(failures, feed, change, error)
                telemetry.failures.add(1, {f"{NAME}.function": feed.function})
                errors.append(error)
        except DATABASE_ERRORS as error:
            database_errors.append(error)

    await for_each(changes, handle_one)
    if database_errors:
        raise database_errors[0]
    return errors


def _reason(error: Exception) -> dict[str, Any]:
    """The field of a log line: Microsoft's worker sends an exception to the host without its cause."""
    return {"reason": telemetry.without_private(getattr(error, "reason", str(error)))}


def _age_s(changes: Iterable[Mapping[str, Any]]) -> float:
    """Age of the oldest change, from the database's clock (`_ts`, whole seconds) to this process's clock."""
    now_s = time.time()
    oldest = min((second for change in changes if isinstance(second := change.get("_ts"), int)), default=now_s)
    return round(max(0.0, now_s - oldest), 1)
