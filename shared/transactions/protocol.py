"""What both implementations of transactions promise."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from shared.cosmos import Container
from shared.models.base import Item


@dataclass(frozen=True)
class Added:
    """A comment or like as stored, and whether this command created it."""

    item: Item
    created: bool


class Transactions(Protocol):
    """Writes to `posts` that change several items of one logical partition.

    An error means that nothing was written, except DatabaseUnavailable: then the outcome is unknown.
    """

    @property
    def feed_trigger(self) -> str | None:
        """The trigger that keeps the feed's length; None if the change-feed function deletes the surplus."""

    async def add(self, posts: Container, item: Item, record: Item | None = None) -> Added:
        """Add a comment or like, its count and its idempotency record.

        An existing item with this id is returned unchanged and counted once. If the record exists, the command is a
        retry: it returns what the first one returned, even if that like was deleted. Raises PostNotFound,
        IdempotencyKeyReused, and CommentNotFound if the comment was deleted.
        """

    async def remove(self, posts: Container, post_id: str, item_id: str, kind: str, *, etag: str | None) -> bool:
        """Remove a comment or like (`kind` is its type) and its count; return whether it existed.

        Raises PostNotFound, and VersionMismatch if the item does not have `etag`.
        """

    async def rename_in_post(self, posts: Container, post_id: str, user: Item) -> None:
        """Write the user's current name to all their items of one post.

        Items that a later rename wrote stay unchanged, so the call is safe to repeat. Raises DatabaseUnavailable if it
        makes no progress.
        """

    async def rename_items(self, posts: Container, post_id: str, items: Sequence[Item], user: Item) -> None:
        """Like `rename_in_post`, for known items of one post, of which only `id` and `type` are read."""
