"""Handles renamed users: updates their items and releases their former usernames.

Handles items of type `user` only; the container's post copies and reservations are skipped. The last write empties
`formerUsernames`. The change that follows has nothing left to do, so the loop terminates.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any

from shared import tracing
from shared.cosmos import ConditionFailed, Container, ItemMissing, patch_of
from shared.data import username_reservations
from shared.models.base import Item
from shared.models.user import User
from shared.pace import Pace
from shared.propagation.change_feed import USERS_FEED, text_of
from shared.propagation.rename_fanout import fan_out_rename
from shared.tracing import span, stamp, writer_of
from shared.transactions import BATCHES, Transactions


@dataclass(frozen=True)
class UserChangeHandler:
    """Handles batches of the change feed of `users`."""

    users: Container
    posts: Container
    failures: Container
    transactions: Transactions = BATCHES

    async def on_changed(self, changes: Iterable[Mapping[str, Any]]) -> list[Exception]:
        """Handle a batch; return the errors stored in `failures`. Raises DatabaseThrottled, DatabaseUnavailable."""
        users = [dict(change) for change in changes if change.get("type") == User.TYPE]
        latest = {(user["id"], str(user.get("userId"))): user for user in users}
        return await USERS_FEED.handle_each(self.failures, latest.values(), partial(self._settle, Pace()))

    async def _settle(self, pace: Pace, user: Item) -> None:
        """Fan out a rename, release the former names, then forget them.

        Forgetting comes last, so after a crash the change is delivered again and every step is repeated. A stale `user`
        is harmless: no step undoes what a later rename has written, and the later change is delivered, too.
        """
        text_of(user, "userId")  # with another key, the user could not be patched
        former = user.get("formerUsernames", [])
        if not former:
            return
        batch = list(stamp().values())
        # A part of the rename's own trace, which so continues into the changes that the fan-out writes.
        with span(USERS_FEED.function, name="rename fan-out", traceparent=writer_of(user), links=batch) as recorded:
            items = await fan_out_rename(self.posts, user, self.transactions, pace)
            recorded.attributes = {"blog.fan_out.items": items}
            if tracing.telemetry is not None:
                tracing.telemetry.renamed(items)
            for username in former:
                await username_reservations.release(self.users, username, user)
            with suppress(ConditionFailed, ItemMissing):
                emptied = [{"op": "remove", "path": "/formerUsernames"}, *patch_of(stamp())]
                await self.users.patch(user["id"], user["id"], emptied, etag=user["_etag"])
