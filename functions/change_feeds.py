"""The change-feed functions for `users` and `posts`."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial

import azure.functions as func

from shared.data.blog import Blog, open_blog
from shared.propagation.change_feed import POSTS_CHANGE_FEED, USERS_CHANGE_FEED, ChangeFeed
from shared.propagation.posts import handle_changed_posts
from shared.propagation.users import handle_changed_users
from shared.settings import settings

bp = func.Blueprint()


@USERS_CHANGE_FEED.trigger(bp)
async def on_users_changed(changes: func.DocumentList, context: func.Context) -> None:
    """Copy changed names to posts, comments and likes, and release former usernames."""
    await _run(USERS_CHANGE_FEED, handle_changed_users, changes, context)


@POSTS_CHANGE_FEED.trigger(bp)
async def on_posts_changed(changes: func.DocumentList, context: func.Context) -> None:
    """Copy changed posts to `users` and `feed`, remove copies of deleted posts, and correct stale usernames."""
    await _run(POSTS_CHANGE_FEED, handle_changed_posts, changes, context)


async def _run(
    feed: ChangeFeed,
    handle: Callable[[Blog, func.DocumentList], Awaitable[object]],
    changes: func.DocumentList,
    context: func.Context,
) -> None:
    deadline_s, traceparent = settings().delivery_deadline_s, context.trace_context.trace_parent
    await feed.run(changes, partial(handle, await open_blog()), deadline_s=deadline_s, traceparent=traceparent)
