"""The change-feed function for `posts`."""

from __future__ import annotations

import azure.functions as func

from shared.containers import FAILURES, FEED, POSTS, USERS
from shared.cosmos import container
from shared.propagation.change_feed import POSTS_FEED
from shared.propagation.posts import PostChangeHandler
from shared.settings import settings
from shared.transactions import transactions

bp = func.Blueprint()


@POSTS_FEED.trigger(bp)
async def on_posts_changed(changes: func.DocumentList) -> None:
    """Copy changed posts to `users` and `feed`, remove copies of deleted posts, and correct stale usernames."""
    users, posts, feed, failures = [await container(name) for name in (USERS, POSTS, FEED, FAILURES)]
    handler = PostChangeHandler(users, posts, feed, failures, transactions(settings()))
    await POSTS_FEED.run(changes, handler.on_changed, deadline_s=settings().batch_deadline_s)
