"""The change-feed function for `posts`."""

from __future__ import annotations

from functools import partial

import azure.functions as func

from shared.data.blog import open_blog
from shared.propagation.change_feed import POSTS_CHANGE_FEED
from shared.propagation.posts import handle_changed_posts
from shared.settings import settings

bp = func.Blueprint()


@POSTS_CHANGE_FEED.trigger(bp)
async def on_posts_changed(changes: func.DocumentList, context: func.Context) -> None:
    """Copy changed posts to `users` and `feed`, remove copies of deleted posts, and correct stale usernames."""
    handle = partial(handle_changed_posts, await open_blog())
    deadline_s, traceparent = settings().delivery_deadline_s, context.trace_context.trace_parent
    await POSTS_CHANGE_FEED.run(changes, handle, deadline_s=deadline_s, traceparent=traceparent)
