"""Handles renamed and deleted users: updates or erases their items and releases their usernames.

Handles users and their tombstones only; the container's post copies and reservations are skipped. The last write
removes `formerUsernames`. The change that follows has nothing left to do, so the loop terminates.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping
from contextlib import suppress
from functools import partial
from typing import Any, Final

from shared.data.blog import Blog
from shared.data.username_reservations import names_held, release
from shared.models.base import DELETED_TTL_S, DELETED_TYPE
from shared.models.user import User, is_deleted
from shared.platform.database.container import patch_of
from shared.platform.database.refusals import ConditionFailed, ItemMissing
from shared.platform.deliveries.concurrency import for_each
from shared.platform.deliveries.delivery import handle_each
from shared.platform.deliveries.pacing import Pace, TurnOver
from shared.platform.models import Item, string_of
from shared.platform.telemetry import current_traceparent, span, trace_property, writer_of
from shared.propagation.change_feeds import USERS_CHANGE_FEED
from shared.propagation.erasure import erasure_of
from shared.propagation.rename import rename_items

# Add-ons erase what they have stored of a deleted user. Each function is called with the user's ID, at least once and
# before the user's names are released.
erasure_hooks: Final[list[Callable[[str], Awaitable[None]]]] = []


async def handle_changed_users(
    blog: Blog, changes: Iterable[Mapping[str, Any]], pace: Pace | None = None
) -> list[Exception]:
    """Handle a delivery; return the errors stored in `failures`. Raises DatabaseThrottled, DatabaseUnavailable."""
    users = [dict(change) for change in changes if change.get("type") in (User.TYPE, DELETED_TYPE)]
    latest = {(user["id"], str(user.get("userId"))): user for user in users}
    handle = partial(_handle_user, blog, pace or Pace())
    return await handle_each(USERS_CHANGE_FEED, blog.failures, latest.values(), handle)


async def _handle_user(blog: Blog, pace: Pace, user: Item) -> None:
    """Fan out a rename or a deletion, release the former names, then remove them from the user.

    If the delivery's turn is over before, the user is written, so that they come back as a later change for the rest.
    The removal comes last, so after a crash the change is delivered again and every step is repeated. A stale `user`
    is harmless: no step undoes what a later rename has written, and the later change is delivered, too.
    """
    string_of(user, "userId")  # with another key, the user could not be patched
    former = user.get("formerUsernames", [])
    if not former:
        return
    # The fan-out continues the trace of the rename, and so do the changes that it writes.
    name = "erasure" if is_deleted(user) else "rename fan-out"
    with span(name, caller=writer_of(user), links=[current_traceparent()]):
        try:
            if is_deleted(user):
                fan_out = erasure_of(blog.posts, user["id"], pace)
            else:
                fan_out = rename_items(blog.posts, user, blog.transactions.rename_procedure, pace)
            await fan_out.everywhere()
        except TurnOver:
            with suppress(ConditionFailed, ItemMissing):  # the later change of the user is delivered, too
                await blog.users.patch(user["id"], user["id"], patch_of({}, turns=1), etag=user["_etag"])
            return
        if is_deleted(user):
            former = [*former, *await names_held(blog.users, user["id"])]
            for erase_elsewhere in erasure_hooks:
                await erase_elsewhere(user["id"])
        # Only a text can have a reservation; other values are damaged.
        await _release_names(blog, user, list(dict.fromkeys(name for name in former if isinstance(name, str))))


async def _release_names(blog: Blog, user: Item, names: list[str]) -> None:
    """Release former names, then remove them from the user.

    If the user has changed since, they keep the names, because that change is delivered, too.
    """
    await for_each(names, lambda username: release(blog.users, username, user))
    done = [{"op": "remove", "path": f"/{name}"} for name in ("formerUsernames", "turns") if name in user]
    # A tombstone expires once nothing of the user is left, unless it already has another `ttl`.
    expiry = {"ttl": DELETED_TTL_S} if is_deleted(user) and "ttl" not in user else {}
    with suppress(ConditionFailed, ItemMissing):
        patch = [*done, *patch_of({**expiry, **trace_property()})]
        await blog.users.patch(user["id"], user["id"], patch, etag=user["_etag"])
