"""The change-feed function for `users`."""

from __future__ import annotations

from functools import partial

import azure.functions as func

from shared.data.blog import open_blog
from shared.propagation.change_feed import USERS_CHANGE_FEED
from shared.propagation.users import handle_changed_users
from shared.settings import settings

bp = func.Blueprint()


@USERS_CHANGE_FEED.trigger(bp)
async def on_users_changed(changes: func.DocumentList, context: func.Context) -> None:
    """Copy changed names to posts, comments and likes, and release former usernames."""
    handle = partial(handle_changed_users, await open_blog())
    deadline_s, traceparent = settings().delivery_deadline_s, context.trace_context.trace_parent
    await USERS_CHANGE_FEED.run(changes, handle, deadline_s=deadline_s, traceparent=traceparent)
