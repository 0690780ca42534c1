"""The trigger of a function that handles a change feed."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import azure.functions as func

from shared.platform.database.retries import DELIVERY_RETRY_LEAST, DELIVERY_RETRY_MOST
from shared.platform.deliveries.change_feed import ChangeFeed
from shared.platform.name import NAME

Function = Callable[[func.DocumentList, func.Context], Awaitable[None]]


def change_feed_trigger(app: func.FunctionApp | func.Blueprint, feed: ChangeFeed, leases: str) -> Callable[..., Any]:
    """Register the decorated `Function` for deliveries of a change feed, from its beginning.

    `leases` is the lease container. Retries have no limit: once they are exhausted, the host checkpoints the delivery,
    and its changes are lost (https://learn.microsoft.com/azure/azure-functions/functions-bindings-error-pages).
    """
    cosmos_db_trigger = app.cosmos_db_trigger(
        arg_name="changes",
        connection="COSMOS",
        database_name=f"%{NAME.upper()}_DATABASE%",
        container_name=feed.container,
        lease_container_name=leases,
        lease_container_prefix=feed.lease_prefix,
        start_from_beginning=True,  # type: ignore[arg-type]  # annotated as a time; the host expects a bool
        max_items_per_invocation=100,
        # Readers see a change after this time and the time of its writes. Each poll is charged.
        feed_poll_delay=300,
        # These bound how long the changes of a killed host wait for another host.
        lease_acquire_interval=2_000,
        lease_renew_interval=5_000,
        lease_expiration_interval=15_000,
    )
    retry = app.retry(
        strategy="exponential_backoff",
        max_retry_count="-1",
        minimum_interval=DELIVERY_RETRY_LEAST,
        maximum_interval=DELIVERY_RETRY_MOST,
    )
    return lambda function: retry(cosmos_db_trigger(function))
