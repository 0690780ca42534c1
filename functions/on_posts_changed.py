"""The change-feed function for `posts`."""

from __future__ import annotations

import azure.functions as func

from shared.database.client import container
from shared.database.containers import FAILURES, FEED, POSTS, USERS
from shared.propagation.change_feed import POSTS_FEED
from shared.propagation.posts import PostChangeHandler
from shared.settings import settings
from shared.transactions import transactions

bp = func.Blueprint()


@POSTS_FEED.trigger(bp)
async def on_posts_changed(changes: func.DocumentList, context: func.Context) -> None:
    """Copy changed posts to `users` and `feed`, remove copies of deleted posts, and correct stale usernames."""
    users, posts, feed, failures = [await container(name) for name in (USERS, POSTS, FEED, FAILURES)]
    handler = PostChangeHandler(users, posts, feed, failures, transactions(settings()))
    deadline_s, traceparent = settings().batch_deadline_s, context.trace_context.trace_parent
    await POSTS_FEED.run(changes, handler.on_changed, deadline_s=deadline_s, traceparent=traceparent)
