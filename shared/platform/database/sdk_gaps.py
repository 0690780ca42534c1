"""Workarounds for azure-cosmos 4.17. Each names its test in tests/platform/database/, and when it can go.

The transport has another one, because it sees every response: 410/1002 (transport.py, test_partition_gone.py).
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

from azure.core.utils import CaseInsensitiveDict
from azure.cosmos.aio import ContainerProxy
from azure.cosmos.exceptions import CosmosBatchOperationError

from shared.platform import telemetry
from shared.platform.database.refusals import ConcurrentWrite, database_errors
from shared.platform.database.retries import CONFLICT_RETRIES, CONFLICT_WAIT_S
from shared.platform.errors import DatabaseUnavailable, RequestRefused
from shared.platform.models import is_item_id

Result = TypeVar("Result")


def require_addressable(item_id: str) -> None:
    """Raise RequestRefused for an ID whose URL would address something else.

    Until the SDK sends every ID that the service accepts (test_item_ids.py).
    """
    if not is_item_id(item_id):
        raise RequestRefused(f"the ID {item_id!r} is too long, or no URL can carry it")


def require_text(partition_key: object) -> None:
    """Raise TypeError unless it is a string. With None, the SDK queries all partitions (aio/_container.py).

    Until the SDK refuses None (test_partition_keys.py).
    """
    if not isinstance(partition_key, str):
        raise TypeError(f"a partition key must be a string, not {type(partition_key).__name__}")


def copied(operations: Iterable[Any]) -> list[Any]:
    """Copy the operations of a batch: the SDK removes entries from their options, which a retry needs.

    Until the SDK copies them (test_retries.py).
    """
    return [(name, arguments, dict(*options)) for name, arguments, *options in operations]


async def retry_conflicts(
    container: str, what: str, attempt: Callable[[], Awaitable[Result]], expected: tuple[type[Exception], ...]
) -> Result:
    """Run `attempt`, and again after 449, which the SDK does not retry. The caller handles the `expected` refusals.

    Until the SDK retries it (test_retries.py).
    """
    for number in range(CONFLICT_RETRIES + 1):
        if number:
            # Without jitter, writes that conflicted once would conflict again.
            await asyncio.sleep(random.uniform(0, CONFLICT_WAIT_S * 2 ** (number - 1)))  # noqa: S311 - not secret
            telemetry.retries.add(1, {"db.collection.name": container})
        try:
            with database_errors(*expected, container=container):
                return await attempt()
        except ConcurrentWrite as conflict:
            last = conflict
    raise DatabaseUnavailable(f"{what} on {container} met concurrent writes {CONFLICT_RETRIES + 1} times") from last


@contextmanager
def keeping_session(proxy: ContainerProxy) -> Iterator[None]:
    """Keep the session token of the one batch or script in this block, even if the batch is refused.

    The SDK keeps the tokens of single-item writes only (aio/_cosmos_client_connection_async.py, `Batch` and
    `ExecuteStoredProcedure`). With only those, a read could miss a batch that the same process wrote. Until both call
    `update_session` (test_sessions.py).
    """
    refused = None
    try:
        yield
    except CosmosBatchOperationError as error:
        refused = error
    connection = proxy.client_connection
    if connection.session is not None:  # only with Session consistency, in a client that was entered
        # No other task has run since the SDK stored these headers, so they belong to this response. The SDK identifies
        # the container by the added one, which is documented for item responses only.
        of_container = {**connection.last_response_headers, "x-ms-alt-content-path": proxy.container_link}
        connection.session.update_session(connection, {}, CaseInsensitiveDict(of_container))  # type: ignore[no-untyped-call]  # in the SDK
    if refused is not None:
        raise refused


async def key_in(proxy: ContainerProxy, feed_range: dict[str, Any], known: dict[str, str]) -> str:
    """Return a partition key of the physical partition, found by trial and kept in `known`.

    Until the primary can be asked by feed range (test_sessions.py).
    """
    name, number = str(feed_range), 0
    while name not in known:
        hashed = await proxy.feed_range_from_partition_key(str(number))
        if await proxy.is_feed_range_subset(feed_range, hashed):
            known[name] = str(number)
        number += 1
    return known[name]
