"""Deliveries of changes: how one is run within its deadline, and what happens to a change that cannot be handled.

It is stored with its error until it is replayed. `failures` has one item per changed item and function: `source` (the
function), `container`, `itemId`, `partitionKey`, `change` (properties of the item as delivered), `error` (`type`,
`message`), `failureDate`. A repeated failure replaces the last one, but not `firstFailureDate`, and increments
`attempts`.
"""

from __future__ import annotations

import asyncio
import json
import logging
import time
import uuid
from collections.abc import Awaitable, Callable, Iterable, Mapping
from contextlib import suppress
from typing import Any

from shared.platform import NAME, telemetry
from shared.platform.database.container import Container, patch_of
from shared.platform.database.refusals import ItemExists, ItemMissing
from shared.platform.database.retries import ENTRY_ATTEMPTS
from shared.platform.database.scope import request_scope
from shared.platform.deliveries.change_feed import ChangeFeed
from shared.platform.deliveries.concurrency import for_each
from shared.platform.errors import (
    DatabaseThrottled,
    DatabaseUnavailable,
    InternalReason,
    ItemTooLarge,
    NoProgress,
    RequestRefused,
)
from shared.platform.models import Item, is_item_id, now

# After these, the host repeats the whole delivery. Any other error belongs to one change.
DATABASE_ERRORS = (DatabaseThrottled, DatabaseUnavailable)


_NAMESPACE = uuid.UUID("0d3f1d07-7c0e-5c07-8a38-0d1a0a6c7b55")
_LONGEST_MESSAGE = 2_000


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
                if not is_item_id(change["id"]):
                    raise RequestRefused("its ID is too long, or no URL can carry it; create it again with another one")
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


async def keep_failure(failures: Container, feed: ChangeFeed, change: Item, error: Exception) -> None:
    """Store a failed change. Two writes for the first failure of an item, and one for each later.

    There is another one if the database rejects the change as a part of the failure.
    """
    item_id, partition_key = str(change.get("id")), change.get(feed.partition_key)
    message = error.reason if isinstance(error, InternalReason) else str(error)
    if what := feed.private(change):
        message = f"{what}: {message if isinstance(error, NoProgress) else 'see the log'}"
    failure = {
        "id": str(uuid.uuid5(_NAMESPACE, json.dumps([feed.function, partition_key, item_id], default=str))),
        "source": feed.function,
        "container": feed.container,
        "itemId": item_id,
        "partitionKey": partition_key,
        "change": {name: change[name] for name in feed.kept if name in change},
        "error": {"type": type(error).__name__, "message": message[:_LONGEST_MESSAGE]},
        "failureDate": now(),
    }
    try:
        await _store(failures, failure)
    except (ItemTooLarge, RequestRefused):  # for example, the change is nested as deeply as an item can be
        await _store(failures, failure | {"change": None})


async def _store(failures: Container, failure: Item) -> None:
    last = {name: failure[name] for name in ("change", "error", "failureDate")}
    for _ in range(ENTRY_ATTEMPTS):
        with suppress(ItemMissing):
            await failures.patch(failure["id"], failure["source"], patch_of(last, attempts=1))
            return
        with suppress(ItemExists):  # a concurrent delivery of the same change
            await failures.create(failure | {"firstFailureDate": failure["failureDate"], "attempts": 1})
            return
    raise DatabaseUnavailable(f"failure {failure['id']} is replayed and stored at the same time")


def _reason(error: Exception) -> dict[str, Any]:
    """The field of a log line: Microsoft's worker sends an exception to the host without its cause."""
    return {"reason": telemetry.without_private(getattr(error, "reason", str(error)))}


def _age_s(changes: Iterable[Mapping[str, Any]]) -> float:
    """Age of the oldest change, from the database's clock (`_ts`, whole seconds) to this process's clock."""
    now_s = time.time()
    oldest = min((second for change in changes if isinstance(second := change.get("_ts"), int)), default=now_s)
    return round(max(0.0, now_s - oldest), 1)
