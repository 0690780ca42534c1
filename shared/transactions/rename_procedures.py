"""Names carried by the stored procedure updateUsernames: one execution per logical partition, or more where it stops
for time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from shared.cosmos import Container
from shared.errors import DatabaseUnavailable
from shared.models.base import Item
from shared.models.user import name_version

_MOST_CALLS = 10_000


@dataclass(frozen=True)
class RenameProcedure:
    """See `shared.propagation.rename_fanout.Renames`."""

    async def in_post(self, posts: Container, post_id: str, user: Item) -> None:
        """One stored procedure, or more."""
        for _ in range(_MOST_CALLS):
            answer = await posts.execute("updateUsernames", post_id, user["id"], user["username"], name_version(user))
            if not answer["more"]:
                return
            if not answer["updated"]:
                raise DatabaseUnavailable("updateUsernames had no time to rename a single item")
        raise DatabaseUnavailable("updateUsernames did not come to an end")

    async def of_items(self, posts: Container, post_id: str, items: Sequence[Item], user: Item) -> None:
        """As `in_post`: the procedure finds the items itself."""
        del items
        await self.in_post(posts, post_id, user)
