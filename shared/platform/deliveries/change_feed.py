"""A change feed that the app handles, and the trigger of its function."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import azure.functions as func

from shared.platform import NAME
from shared.platform.database.retries import DELIVERY_RETRY_LEAST, DELIVERY_RETRY_MOST
from shared.platform.models import Item


@dataclass(frozen=True)
class ChangeFeed:
    """The change feed of `container`, and `function`, which handles it.

    Its leases start with the name of the container. Functions with the same leases would share the changes.
    """

    function: str
    container: str
    partition_key: str
    # The properties of a change that a failure keeps.
    kept: tuple[str, ...] = ("id", "type", "_etag", "_ts")
    # What a change is if the text of its error can be private; nothing for other changes.
    private: Callable[[Item], str] = lambda _change: ""

    @property
    def lease_prefix(self) -> str:
        return f"{self.container}-"


def change_feed_trigger(app: func.FunctionApp | func.Blueprint, feed: ChangeFeed, leases: str) -> Callable[..., Any]:
    """Register the decorated function for deliveries of a change feed, from its beginning.

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
