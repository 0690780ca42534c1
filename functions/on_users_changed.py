"""The change-feed function for `users`."""

from __future__ import annotations

import azure.functions as func

from shared.database.client import container
from shared.database.containers import FAILURES, POSTS, USERS
from shared.propagation.change_feed import USERS_FEED
from shared.propagation.users import UserChangeHandler
from shared.settings import settings
from shared.transactions import transactions

bp = func.Blueprint()


@USERS_FEED.trigger(bp)
async def on_users_changed(changes: func.DocumentList, context: func.Context) -> None:
    """Confirm and release username reservations, and copy changed names to posts, comments and likes."""
    users, posts, failures = [await container(name) for name in (USERS, POSTS, FAILURES)]
    handler = UserChangeHandler(users, posts, failures, transactions(settings()))
    deadline_s, traceparent = settings().batch_deadline_s, context.trace_context.trace_parent
    await USERS_FEED.run(changes, handler.on_changed, deadline_s=deadline_s, traceparent=traceparent)
