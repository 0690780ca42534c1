"""The change feeds that the app handles."""

from __future__ import annotations

from shared.containers import POSTS, USERS
from shared.models.base import DELETED_TYPE
from shared.platform.deliveries.change_feed import ChangeFeed
from shared.platform.models import Item

# Not the texts and names, because failures stay when their author is deleted. A replay reads the item from its
# container, and needs the stored change only if the item was a tombstone that has expired since.
_KEPT = ("id", "type", "postId", "userId", "version", "nameVersion", "creationDate", "ttl", "_etag", "_ts")


def _private(change: Item) -> str:
    """Name the deletion of a user, because the law sets a time limit for it. Its errors can quote the username."""
    is_deletion = change.get("type") == DELETED_TYPE and "formerUsernames" in change
    return "deletion of a user" if is_deletion else ""


USERS_CHANGE_FEED = ChangeFeed("on_users_changed", USERS, partition_key="userId", kept=_KEPT, private=_private)
POSTS_CHANGE_FEED = ChangeFeed("on_posts_changed", POSTS, partition_key="postId", kept=_KEPT)
CHANGE_FEEDS = {feed.function: feed for feed in (USERS_CHANGE_FEED, POSTS_CHANGE_FEED)}
