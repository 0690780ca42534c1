"""The change-feed function for `users`."""

from __future__ import annotations

import azure.functions as func

from shared.data.blog import open_blog
from shared.propagation.change_feed import USERS_FEED
from shared.propagation.users import UserChangeHandler
from shared.settings import settings

bp = func.Blueprint()


@USERS_FEED.trigger(bp)
async def on_users_changed(changes: func.DocumentList, context: func.Context) -> None:
    """Copy changed names to posts, comments and likes, and release former usernames."""
    handler = UserChangeHandler(await open_blog())
    deadline_s, traceparent = settings().delivery_deadline_s, context.trace_context.trace_parent
    await USERS_FEED.run(changes, handler.on_changed, deadline_s=deadline_s, traceparent=traceparent)
