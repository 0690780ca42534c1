"""The reaction to changed users: confirm the reservation of the name, and after a rename carry the name to the user's
items and release the names before it.

It handles items of type `user` alone. The copies of posts and the reservations in the same container cause no work, and
neither does the last write made here, which empties the user's list of former names: with an empty list there is
nothing to carry and a confirmed reservation is left as it is. So the reaction ends.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from shared.containers import USERS
from shared.cosmos import ConditionFailed, Container, ItemMissing
from shared.data import username_reservations
from shared.models.base import Item
from shared.models.user import User
from shared.propagation.batches import Kept, Reaction
from shared.propagation.usernames import carry_to_items
from shared.transactions import BATCHES, Transactions

REACTION = Reaction(source="on_users_changed", container=USERS, partition_key="userId")


@dataclass(frozen=True)
class UsersReaction:
    """The reaction and the containers that it reads and writes."""

    users: Container
    posts: Container
    failures: Container
    transactions: Transactions = BATCHES

    async def on_changed(self, changes: Iterable[Mapping[str, Any]]) -> list[Kept]:
        """React to a batch of the change feed of `users`; the answer is what was kept as failure. Raises
        DatabaseThrottled, DatabaseUnavailable."""
        latest = {change["id"]: dict(change) for change in changes if change.get("type") == User.TYPE}
        return await REACTION.handle_each(self.failures, latest.values(), self._settle)

    async def _settle(self, user: Item) -> None:
        """Each step may be repeated, and the list of former names is emptied last: a crash in between means that the
        change is delivered again and all of it done again. A state that is no longer the latest does no harm: every
        step leaves alone what a later rename has written, and that one is delivered, too."""
        await username_reservations.confirm(self.users, user)
        former = user.get("formerUsernames", [])
        if not former:
            return
        await carry_to_items(self.posts, user, self.transactions)
        for username in former:
            await username_reservations.release(self.users, username, user)
        with suppress(ConditionFailed, ItemMissing):
            emptied = [{"op": "remove", "path": "/formerUsernames"}]
            await self.users.patch(user["id"], user["id"], emptied, etag=user["_etag"])
