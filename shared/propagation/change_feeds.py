"""The change feeds that the app handles."""

from __future__ import annotations

from dataclasses import dataclass

from shared.database.containers import POSTS, USERS


@dataclass(frozen=True)
class ChangeFeed:
    """The change feed of `container`, and `function`, which handles it."""

    function: str
    container: str
    partition_key: str

    @property
    def lease_prefix(self) -> str:
        """The start of the IDs of the function's leases."""
        return f"{self.container}-"


USERS_CHANGE_FEED = ChangeFeed("on_users_changed", USERS, partition_key="userId")
POSTS_CHANGE_FEED = ChangeFeed("on_posts_changed", POSTS, partition_key="postId")
CHANGE_FEEDS = {feed.function: feed for feed in (USERS_CHANGE_FEED, POSTS_CHANGE_FEED)}
