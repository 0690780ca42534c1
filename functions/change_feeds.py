"""The change-feed functions for `users` and `posts`."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Any

import azure.functions as func

from shared.containers import LEASES
from shared.data.blog import Blog, open_blog
from shared.platform.deliveries.change_feed import ChangeFeed, change_feed_trigger
from shared.platform.deliveries.delivery import run_delivery
from shared.platform.deliveries.pacing import TURN_S, Pace
from shared.propagation.change_feeds import POSTS_CHANGE_FEED, USERS_CHANGE_FEED
from shared.propagation.posts import handle_changed_posts
from shared.propagation.users import handle_changed_users
from shared.settings import settings

bp = func.Blueprint()


@change_feed_trigger(bp, USERS_CHANGE_FEED, LEASES)
async def on_users_changed(changes: func.DocumentList, context: func.Context) -> None:
    """Copy changed names to posts, comments and likes, erase deleted users' items, and release former usernames."""
    await _run(USERS_CHANGE_FEED, handle_changed_users, changes, context)


@change_feed_trigger(bp, POSTS_CHANGE_FEED, LEASES)
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
