"""The change-feed functions for `users` and `posts`."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Any

import azure.functions as func

from shared.containers import LEASES
from shared.data.blog import Blog, open_blog
from shared.platform.database.retries import DELIVERY_RETRY_LEAST, DELIVERY_RETRY_MOST
from shared.platform.deliveries.change_feed import ChangeFeed
from shared.platform.deliveries.delivery import run_delivery
from shared.platform.deliveries.pacing import TURN_S, Pace
from shared.propagation.change_feeds import POSTS_CHANGE_FEED, USERS_CHANGE_FEED
from shared.propagation.posts import handle_changed_posts
from shared.propagation.users import handle_changed_users
from shared.settings import settings

bp = func.Blueprint()

Function = Callable[[func.DocumentList, func.Context], Awaitable[None]]


def trigger(feed: ChangeFeed) -> Callable[[Function], Any]:
    """Register the decorated function for deliveries of a change feed, from its beginning.

    Retries have no limit: once they are exhausted, the host checkpoints the delivery, and its changes are lost
    (https://learn.microsoft.com/azure/azure-functions/functions-bindings-error-pages).
    """
    cosmos_db_trigger = bp.cosmos_db_trigger(
        arg_name="changes",
        connection="COSMOS",
        database_name="%BLOG_DATABASE%",
        container_name=feed.container,
        lease_container_name=LEASES,
        lease_container_prefix=feed.lease_prefix,
        start_from_beginning=True,  # type: ignore[arg-type]  # annotated as a time; the host expects a bool
        max_items_per_invocation=100,
        # Lists must show a new post within 1.5 s (bench/propagation.py), and each poll is charged.
        feed_poll_delay=300,
        # These bound how long the changes of a killed host wait for another host.
        lease_acquire_interval=2_000,
        lease_renew_interval=5_000,
        lease_expiration_interval=15_000,
    )
    retry = bp.retry(
        strategy="exponential_backoff",
        max_retry_count="-1",
        minimum_interval=DELIVERY_RETRY_LEAST,
        maximum_interval=DELIVERY_RETRY_MOST,
    )
    return lambda function: retry(cosmos_db_trigger(function))


@trigger(USERS_CHANGE_FEED)
async def on_users_changed(changes: func.DocumentList, context: func.Context) -> None:
    """Copy changed names to posts, comments and likes, erase those of deleted users, and release former usernames."""
    await _run(USERS_CHANGE_FEED, handle_changed_users, changes, context)


@trigger(POSTS_CHANGE_FEED)
async def on_posts_changed(changes: func.DocumentList, context: func.Context) -> None:
    """Copy changed posts to `users` and `feed`, delete what belongs to deleted ones, and correct stale usernames."""
    await _run(POSTS_CHANGE_FEED, handle_changed_posts, changes, context)


# The pace of each function's last delivery, at which the next one continues.
_paces: dict[str, Pace] = {}


async def _run(
    feed: ChangeFeed,
    handle: Callable[[Blog, Iterable[Mapping[str, Any]], Pace], Awaitable[object]],
    changes: func.DocumentList,
    context: func.Context,
) -> None:
    deadline_s, traceparent = settings().delivery_deadline_s, context.trace_context.trace_parent
    blog = await open_blog()
    pace = _paces[feed.function] = Pace(turn_s=TURN_S, last=_paces.get(feed.function))
    await run_delivery(
        feed, changes, lambda found: handle(blog, found, pace), deadline_s=deadline_s, traceparent=traceparent
    )
