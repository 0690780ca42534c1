"""How the app listens to a change feed: one set of options for all its triggers, one log line for each batch."""

from __future__ import annotations

import logging
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Any

import azure.functions as func

from shared.charges import metered
from shared.containers import LEASES, lease_prefix
from shared.logs import log
from shared.retries import BATCH_RETRY_LEAST, BATCH_RETRY_MOST

Reaction = Callable[[func.DocumentList], Awaitable[None]]


def batch_of(blueprint: func.Blueprint, *, container_name: str) -> Callable[[Reaction], Any]:
    """Register a function for batches of the container's change feed.

    From the beginning, or changes made before the app first started would never be seen. With an endless retry: a
    batch whose function throws without a retry policy, or past a finite one, is checkpointed all the same, and lost
    (https://learn.microsoft.com/azure/azure-functions/functions-bindings-error-pages). The function throws only when
    the database fails it. The lease intervals bound how long the changes of a killed host wait for another one.

    A new post waits for up to a poll delay, and then up to a second for the front page to be read again
    (shared/data/front_page.py): most of the 1.5 s within which the lists are to show it (bench/propagation.py). A
    shorter delay costs more polls, and each one of an idle partition is charged, too.
    """

    def register(function: Reaction) -> Any:
        triggered = blueprint.cosmos_db_trigger(
            arg_name="changes",
            connection="COSMOS",
            database_name="%BLOG_DATABASE%",
            container_name=container_name,
            lease_container_name=LEASES,
            lease_container_prefix=lease_prefix(container_name),
            start_from_beginning=True,  # type: ignore[arg-type]  # the SDK's hint says time; the host wants a bool
            max_items_per_invocation=100,
            feed_poll_delay=300,
            lease_acquire_interval=2_000,
            lease_renew_interval=5_000,
            lease_expiration_interval=15_000,
        )(function)
        return blueprint.retry(
            strategy="exponential_backoff",
            max_retry_count="-1",
            minimum_interval=BATCH_RETRY_LEAST,
            maximum_interval=BATCH_RETRY_MOST,
        )(triggered)

    return register


async def react(
    name: str,
    changes: Iterable[Mapping[str, Any]],
    reaction: Callable[[Iterable[Mapping[str, Any]]], Awaitable[object]],
) -> None:
    """Hand a batch to its reaction and log what it cost, and its lag: how old its oldest change was when all was done.

    Seconds, from the database's clock (`_ts`, whole seconds) to this one's.
    """
    batch = list(changes)
    started = time.perf_counter()
    with metered() as charge:
        await reaction(batch)
        log(
            logging.INFO,
            "batch",
            function=name,
            changes=len(batch),
            charge_ru=round(charge.request_units, 2),
            duration_ms=round((time.perf_counter() - started) * 1000, 1),
            lag_s=_age_s(batch),
        )


def _age_s(batch: Iterable[Mapping[str, Any]]) -> float:
    written = (change.get("_ts") for change in batch)
    oldest = min((second for second in written if isinstance(second, int)), default=None)
    return 0.0 if oldest is None else round(max(0.0, time.time() - oldest), 1)
